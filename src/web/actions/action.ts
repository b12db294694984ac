import type * as z from "zod/mini";
import type { Described } from "../../ports/operation.ts";
import type { Field } from "../forms.ts";

// biome-ignore lint/suspicious/noExplicitAny: actions are operations of every input and result
type AnyDescribed = Described<z.ZodMiniObject<any>, any>;

/** Something that a person can do on the page. The page only collects the fields; the operation refuses what its command refuses. */
export interface Action {
  operation: AnyDescribed;
  title: string;
  /** What the button says. */
  button: string;
  fields: readonly Field[];
  /** Input that the page supplies itself. */
  fixed?: Readonly<Record<string, unknown>>;
  /**
   * The field that names the task, which comes from the address; undefined for what belongs to none. With `part` it names a
   * part of the task where the query of the address does, such as the run.
   */
  task?: { field: string; list?: true; part?: string };
  /** The fields that come from the query of the address, such as the finding. */
  about?: readonly string[];
  /** The tab of the task that shows what was done. */
  tab?: string;
}

export type Actions = Readonly<Record<string, Action>>;

export const TASK = { field: "task" } as const;
