/** Variables that aim git elsewhere, as a shell of an agent, or a hook of git's, might have set them. */
export const AIMED = {
  GIT_DIR: "/elsewhere/.git",
  GIT_WORK_TREE: "/elsewhere",
  GIT_INDEX_FILE: "/elsewhere/index",
  GIT_COMMON_DIR: "/elsewhere/.git",
  GIT_NAMESPACE: "other",
  GIT_PREFIX: "below/",
  GIT_CONFIG: "/elsewhere/config",
  GIT_SHALLOW_FILE: "/elsewhere/shallow",
  GIT_REPLACE_REF_BASE: "refs/other/",
  GIT_ATTR_SOURCE: "main",
  GIT_ICASE_PATHSPECS: "1",
  GIT_TRACE: "1",
};
