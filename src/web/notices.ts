import { randomBytes } from "node:crypto";
import type { Next } from "../ports/operation.ts";

/** What the command would have printed at its end. */
export interface Notice {
  text: string;
  warnings: readonly string[];
  next: Next | undefined;
}

const MOST = 50;

/** Shows the outcome of a form once, on the page that the browser is redirected to; a reload does not repeat it. */
export class Notices {
  readonly #kept = new Map<string, Notice>();

  /** Keeps it for the next page; the id that is returned goes into its address. */
  keep(notice: Notice): string {
    const id = randomBytes(6).toString("base64url");
    this.#kept.set(id, notice);
    for (const oldest of this.#kept.keys()) if (this.#kept.size > MOST) this.#kept.delete(oldest);
    return id;
  }

  take(id: string | null): Notice | undefined {
    const found = this.#kept.get(id ?? "");
    if (id !== null) this.#kept.delete(id);
    return found;
  }
}
