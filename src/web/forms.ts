import type * as z from "zod/mini";
import { type FieldInfo, fieldInfo } from "../model/input.ts";
import { type Html, html } from "./html.ts";

// biome-ignore lint/suspicious/noExplicitAny: forms are made for operations of every input
type AnyInput = z.ZodMiniObject<any>;

/** A field of the operation, and its label in the form. */
export interface Field {
  name: string;
  label: string;
  /** Several lines of text. */
  long?: boolean;
  /** What may be chosen, where the operation itself knows more than the page offers. */
  choices?: readonly string[];
  /** The page's own hint, where the one for the command line does not fit. */
  hint?: string;
  /** One line, but across the whole form. */
  across?: boolean;
  /** Seldom needed: folded away until somebody asks for it. */
  rare?: boolean;
  /** What is usually typed here, by the name of a list that the view knows. */
  suggest?: "agents";
}

type Values = Readonly<Record<string, string | undefined>>;

/** The fields of a form, built from the operation's input: the page cannot ask for anything else. */
export function fieldsOfForm(
  input: AnyInput,
  fields: readonly Field[],
  values: Values,
  lists: Readonly<Record<string, readonly string[]>> = {},
): Html {
  const offered = Object.entries(lists).map(
    ([name, all]) =>
      html`<datalist id="list-${name}">${all.map((one) => html`<option value="${one}"></option>`)}</datalist>`,
  );
  const all = (which: readonly Field[]) =>
    which.map((field) => labelled(field, infoOf(input, field.name), values[field.name] ?? ""));
  const rare = fields.filter((one) => one.rare);
  const isSaid = rare.some((one) => values[one.name]);
  return html`${all(fields.filter((one) => !one.rare))}${rare.length > 0 && html`<details class="rare"${isSaid && html` open`}><summary>More options</summary><div class="act">${all(rare)}</div></details>`}${offered}`;
}

const infoOf = (input: AnyInput, name: string): FieldInfo => {
  const schema: object | undefined = input.shape[name];
  if (!schema) throw new Error(`The operation has no field "${name}"`);
  return fieldInfo(schema);
};

function labelled(field: Field, info: FieldInfo, value: string): Html {
  const id = `field-${field.name}`;
  const { name, label } = field;
  if (info.type === "flag")
    return html`<p class="field check long"><input type="checkbox" id="${id}" name="${name}"${value !== "" && html` checked`}><label for="${id}"><b>${label}</b> <span class="dim">${field.hint ?? info.describe}</span></label></p>`;
  const isLong = field.long || field.across || info.type === "list";
  return html`<p class="field${isLong && " long"}"><label for="${id}"><b>${label}</b>${info.required && html` <span class="needed">required</span>`} <span class="dim">${field.hint ?? info.describe}</span></label>${control(field, info, value, id)}</p>`;
}

function control({ name, long, choices, suggest }: Field, info: FieldInfo, value: string, id: string): Html {
  const offered = choices ?? (info.type === "choice" ? info.choices : undefined);
  if (offered)
    return html`<select id="${id}" name="${name}"${info.required && html` required`}>${!info.required && html`<option value="">default</option>`}${offered.map((one) => html`<option${one === value && html` selected`}>${one}</option>`)}</select>`;
  if (long || info.type === "list")
    return html`<textarea id="${id}" name="${name}" rows="${long ? 5 : 2}" data-keep${info.required && html` required`}${info.type === "list" && html` placeholder="one per line"`}>${value}</textarea>`;
  return html`<input id="${id}" name="${name}" value="${value}" data-keep autocomplete="off"${suggest !== undefined && html` list="list-${suggest}"`}${info.type === "number" && html` inputmode="numeric"`}${info.required && html` required`}>`;
}

/** Converts what was typed to the types that the operation expects; empty fields are left out. */
export function inputOf(
  input: AnyInput,
  fields: readonly Pick<Field, "name">[],
  values: Values,
): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap(({ name }) => {
      const text = values[name];
      if (text === undefined || text.trim() === "") return [];
      return [[name, typed(infoOf(input, name), text)]];
    }),
  );
}

function typed(info: FieldInfo, text: string): unknown {
  if (info.type === "flag") return true;
  if (info.type === "number") return Number(text);
  if (info.type !== "list") return text;
  return text
    .split("\n")
    .map((one) => one.trim())
    .filter(Boolean);
}
