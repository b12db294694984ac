import * as z from "zod/mini";
import { columns, quoted, warningsOf } from "../model/text.ts";
import { procedure } from "./operation.ts";

export const repoList = procedure({
  id: "repo.list",
  summary: "Show the repositories that tasks may touch, and where they are on this machine",
  examples: ["pawl repo list", "pawl repo list --json"],
  access: "read",
  input: z.strictObject({}),

  rehearse: async () => [],

  async perform(hands) {
    const sites = await hands.git.sites();
    const here = sites.here();
    const { records, problems } = await hands.look((reader) => reader.repositories());
    const known = sites.all();
    const names = new Set([...known.map((one) => one.name), ...records.map((one) => one.value.id)]);
    const repos = [...names].map((name) => {
      const site = known.find((one) => one.name === name);
      const record = records.find((one) => one.value.id === name)?.value;
      return {
        name,
        home: site?.home ?? record?.home ?? false,
        here: name === here.name,
        path: site ? (site.mainRoot ?? site.commonDir) : null,
        base_branch: record?.base_branch,
      };
    });
    const missing = repos.find((one) => one.path === null);
    return {
      data: { repos },
      warnings: warningsOf(problems),
      ...(missing
        ? {
            next: {
              command: `pawl repo add <path> --name ${quoted(missing.name)}`,
              reason: `${missing.name} is not known on this machine`,
            },
          }
        : {}),
    };
  },

  text: ({ repos }, style) =>
    columns(
      repos.map((one) => [
        one.here ? style.bold(one.name) : one.name,
        one.home ? "home" : "",
        one.path ?? style.yellow("not on this machine"),
        one.base_branch ? `base ${one.base_branch}` : "",
      ]),
    ),
});
