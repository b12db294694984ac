import * as z from "zod/mini";
import { changeOverride, describeOverride, rehearseOverride } from "../flows/install/override.ts";
import { Failure } from "../model/failure.ts";
import { flag, line, maybe, prose } from "../model/input.ts";
import type { OverrideChange } from "../ports/installation.ts";
import { procedure } from "./operation.ts";

interface Wanted {
  name: string;
  replace?: boolean | undefined;
  patch?: boolean | undefined;
  disable?: boolean | undefined;
  text?: string | undefined;
  from_edit?: boolean | undefined;
}

export const overrideSkill = procedure({
  id: "override.skill",
  summary: "Change or switch off one of pawl's skills in this repository",
  details:
    "Writes .pawl/overrides/skills/NAME/override.md, which is tracked with the project, and renders the skill from\nit. With --patch, later changes to pawl's own text are merged into yours; with --replace they are only shown.\nWithout --text the file starts as pawl's own text: edit it, then run `pawl install`. --from-edit turns your\nedits to the installed file into such a patch. --disable removes the skill; only a human can.",
  examples: [
    "pawl override skill tdd --patch",
    "pawl override skill scope --replace --text scope.md",
    "pawl override skill tdd --from-edit",
    "pawl override skill auto-fix --disable",
  ],
  access: "write",
  cli: { positional: ["name"], files: ["text"] },
  input: z.strictObject({
    name: line("the skill", "NAME", 64),
    replace: flag("your text instead of pawl's"),
    patch: flag("pawl's text with your changes"),
    disable: flag("no skill of this name"),
    from_edit: flag("pawl's text with your edits to the installed file"),
    text: maybe(prose("the whole skill, or why it is disabled; a file, or - for standard input", "FILE")),
  }),
  rehearse: (hands, input) => rehearseOverride(hands, changeOf(input)),
  perform: (hands, input) => changeOverride(hands, changeOf(input), input.name),
  text: describeOverride,
});

function changeOf({ name, text, from_edit: fromEdit, ...modes }: Wanted): OverrideChange {
  const chosen = (["replace", "patch", "disable"] as const).filter((one) => modes[one]);
  const [mode, second] = chosen;
  if (fromEdit && mode === undefined && text === undefined) return { do: "edited", name };
  if (mode && !second && !fromEdit) return { do: "skill", name, mode, text };
  throw new Failure("usage", "which_mode", "Choose one of --replace, --patch, --from-edit and --disable.", {
    hint: `For small changes: pawl override skill ${name} --patch`,
    details: { field: "patch" },
  });
}
