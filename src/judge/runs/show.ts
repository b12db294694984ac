import { showDuration } from "../../model/duration.ts";
import { partOf, shorten } from "../../model/ids.ts";
import { plural, type Style } from "../../model/text.ts";
import type { AttemptView } from "../../ports/agents.ts";
import type { RunStanding } from "./standing.ts";
import { dollars, short } from "./usage.ts";

/** One line for somebody who watches: time, last action, tokens, files. */
export function progressLine({ elapsed, silent, progress }: AttemptView, columns: number): string {
  const time = showDuration(elapsed);
  const rest = [
    progress && progress.tokens.input + progress.tokens.output > 0
      ? `${short(progress.tokens.input)} in, ${short(progress.tokens.output)} out`
      : "",
    progress && progress.files.length > 0 ? plural(progress.files.length, "file") : "",
    silent >= 60 ? `silent for ${showDuration(silent)}` : "",
  ];
  const join = (parts: readonly string[]) => parts.filter(Boolean).join(" · ");
  // A wrapped line cannot be erased, and terminals may wrap a line that fills the last column.
  const room = columns - join([time, "…", ...rest]).length;
  const act = shorten(progress?.waiting ?? progress?.last ?? "", Math.min(80, Math.max(1, room)));
  return shorten(join([time, act, ...rest]), columns - 1);
}

/** The row of a run in a list. */
export function runRow(run: RunStanding, style: Style): string[] {
  return [
    style.bold(run.id),
    stateColour(run, style),
    [run.agent ?? run.holder, run.role === undefined || run.role === "author" ? "" : run.role]
      .filter(Boolean)
      .join(" "),
    run.elapsed === undefined ? "" : showDuration(run.elapsed),
    usageText(run),
    [
      shorten(run.waiting ?? run.last, 60),
      run.dirty.length === 0 ? "" : `dirty before: ${run.dirty.join(", ")}`,
      run.evidence.map(({ id, passed }) => `${partOf(id)} ${passed ? "passed" : "failed"}`).join(", "),
    ]
      .filter(Boolean)
      .join(" · "),
  ];
}

function usageText({ usage }: Pick<RunStanding, "usage">): string {
  const used = usage.input + usage.output === 0 ? "" : `${short(usage.input + usage.output)} tokens`;
  return [used, usage.cost === undefined ? "" : dollars(usage.cost)].filter(Boolean).join(", ");
}

function stateColour({ state, reason }: RunStanding, style: Style): string {
  const why = state === "kept" ? "pending merge" : reason;
  const words = why === undefined || state === "running" ? state : `${state} (${why})`;
  switch (state) {
    case "succeeded":
      return style.green(words);
    case "failed":
      return style.red(words);
    case "interrupted":
    case "orphaned":
      return style.yellow(words);
    case "held":
    case "kept":
      return style.dim(words);
    default:
      return style.cyan(words);
  }
}
