import { createHash } from "node:crypto";
import { Failure } from "../model/failure.ts";
import type { Field } from "./forms.ts";
import { type Html, html } from "./html.ts";

type Values = Record<string, string | undefined>;

const PREFIX = "was-";

/** How a form tells later what it showed, without sending all of it twice. Browsers change only white space. */
const markOf = (text: string | undefined) =>
  createHash("sha256")
    .update((text ?? "").replaceAll("\r\n", "\n").trim())
    .digest("hex")
    .slice(0, 16);

/** What each field of a form showed, so that it is known later which of them somebody has changed. */
export const marksOf = (fields: readonly Field[], values: Values): Html =>
  html`${fields.map(({ name }) => html`<input type="hidden" name="${PREFIX}${name}" value="${markOf(values[name])}">`)}`;

/** A form that came after somebody else's change: what to show in it, and what both have changed. */
export interface LateForm {
  values: Values;
  refusal: Failure;
  both: { label: string; now: string }[];
}

/**
 * What was left alone becomes what it is now, because sending the old text again would undo the other's change.
 * What was typed stays; where the other has changed the same field, both texts are shown.
 */
export function lateForm(
  fields: readonly Field[],
  sent: Values,
  now: Values,
  refusal: Failure,
): LateForm | undefined {
  if (refusal.code !== "stale_rev") return undefined;
  const was = ({ name }: Field) => sent[`${PREFIX}${name}`];
  const isTyped = (field: Field) => was(field) !== markOf(sent[field.name]);
  const values = fields.map((one) => [one.name, (isTyped(one) ? sent : now)[one.name]]);
  const both = fields
    .filter((one) => isTyped(one) && was(one) !== undefined && was(one) !== markOf(now[one.name]))
    .filter((one) => markOf(sent[one.name]) !== markOf(now[one.name]));
  const hint =
    both.length === 0
      ? "Somebody else has changed it meanwhile. What you typed is still here, and the rest shows what they wrote. Save again."
      : `Somebody else has changed it meanwhile, and you have both changed ${both.map((one) => one.label).join(", ")}. Saving again keeps what stands in the form.`;
  return {
    values: Object.fromEntries(values),
    refusal: new Failure(refusal.kind, refusal.code, refusal.message, { hint }),
    both: both.map(({ name, label }) => ({ label, now: now[name] ?? "" })),
  };
}
