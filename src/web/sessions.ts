import { randomBytes, timingSafeEqual } from "node:crypto";

const LINK_MS = 60_000;
const COOKIE = "pawl";

/** Who has been let in. A link is good once and for a minute; the cookie lasts as long as `pawl ui` runs. */
export class Sessions {
  readonly #now: () => number;
  readonly #links = new Map<string, number>();
  readonly #cookies = new Set<string>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A new link's secret, to be opened in the next minute. It goes behind `#`, so no log and no other site sees it. */
  invite(): string {
    const secret = randomBytes(16).toString("base64url");
    this.#links.set(secret, this.#now() + LINK_MS);
    return secret;
  }

  /** The cookie for whoever brings a link that nobody has used. */
  enter(secret: unknown): string | undefined {
    const known = [...this.#links.keys()].find((one) => isSame(one, String(secret)));
    if (known === undefined) return undefined;
    const until = this.#links.get(known) ?? 0;
    this.#links.delete(known);
    if (until < this.#now()) return undefined;
    const cookie = randomBytes(16).toString("base64url");
    this.#cookies.add(cookie);
    return `${COOKIE}=${cookie}; HttpOnly; SameSite=Strict; Path=/`;
  }

  has(cookies: string | undefined): boolean {
    return (cookies ?? "").split("; ").some((one) => {
      const [name, value = ""] = one.split("=");
      return name === COOKIE && [...this.#cookies].some((known) => isSame(known, value));
    });
  }
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
