/** Variables that aim git at another repository, index, history or choice of files than where it stands: git sets some for its own hooks. */
const AIMING = new RegExp(
  `^GIT_(?:${[
    "DIR|WORK_TREE|IMPLICIT_WORK_TREE|COMMON_DIR|INDEX_FILE|NAMESPACE|PREFIX|CONFIG|INTERNAL_.*",
    "OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|QUARANTINE_PATH",
    "SHALLOW_FILE|GRAFT_FILE|REPLACE_REF_BASE|NO_REPLACE_OBJECTS|ATTR_SOURCE|(?:LITERAL|GLOB|NOGLOB|ICASE)_PATHSPECS",
    "EDITOR|SEQUENCE_EDITOR|REFLOG_ACTION|TRACE.*",
  ].join("|")})$`,
);

/** Settings for every git that is started with them. */
const OVERRIDES = /^GIT_CONFIG_(?:COUNT|PARAMETERS|KEY_\d+|VALUE_\d+)$/;

export const aimsGit = (variable: string) => AIMING.test(variable);
export const overridesSettings = (variable: string) => OVERRIDES.test(variable);
