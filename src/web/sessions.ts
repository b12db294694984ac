import { randomBytes, timingSafeEqual } from "node:crypto";

const LINK_MS = 60_000;

/**
 * The cookie's name, with the port in it. Browsers share cookies between ports: under one name, a second project's page would
 * log out the first.
 */
const cookieOf = (host: string | undefined) => `pawl${/:\d+$/.exec(host ?? "")?.[0].replace(":", "-") ?? ""}`;

/** Who has been let in. A link is good once and for a minute; the cookie lasts as long as `pawl ui` runs. */
export class Sessions {
  readonly #now: () => number;
  readonly #links = new Map<string, number>();
  /** With the host that each cookie was given to, the only one at which it counts. */
  readonly #cookies = new Map<string, string | undefined>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** A new link's secret, to be opened in the next minute. It goes behind `#`, so no log and no other site sees it. */
  invite(): string {
    const secret = randomBytes(16).toString("base64url");
    this.#links.set(secret, this.#now() + LINK_MS);
    return secret;
  }

  /** The cookie for a browser that brings an unused link, good at the address that it came to. */
  enter(secret: unknown, host: string | undefined): string | undefined {
    if (typeof secret !== "string") return undefined;
    const known = [...this.#links.keys()].find((one) => isSame(one, secret));
    if (known === undefined) return undefined;
    const until = this.#links.get(known) ?? 0;
    this.#links.delete(known);
    if (until < this.#now()) return undefined;
    const cookie = randomBytes(16).toString("base64url");
    this.#cookies.set(cookie, host);
    return `${cookieOf(host)}=${cookie}; HttpOnly; SameSite=Strict; Path=/`;
  }

  has(cookies: string | undefined, host: string | undefined): boolean {
    const own = cookieOf(host);
    return (cookies ?? "").split("; ").some((one) => {
      const [name, value = ""] = one.split("=");
      return name === own && [...this.#cookies].some(([known, at]) => at === host && isSame(known, value));
    });
  }
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
