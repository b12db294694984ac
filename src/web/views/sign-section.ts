import { Failure } from "../../model/failure.ts";
import type { Assertion } from "../../model/signature.ts";
import { passkeysAt } from "../door.ts";
import type { Request } from "../exchange.ts";
import { fieldsOf } from "../fields.ts";
import { type Html, html, visible } from "../html.ts";
import type { Underway } from "../undertakings.ts";

export const isOpen = ({ state }: Underway) => state !== "done" && state !== "refused";

/** Why no passkey can be used where the browser is; undefined where they work. */
export function noPasskeys({ headers }: Request): Html | undefined {
  const address = passkeysAt(headers.host);
  if (address === undefined) return undefined;
  return html`<p class="warning">Passkeys work only at <code>${address}</code>, and you opened this page under another name. Open the link of <code>pawl ui</code> in Chrome, Edge or Firefox, or sign with an ssh key on a terminal.</p>`;
}

interface About {
  /** Where the page is, and below which its forms are. */
  path: string;
  /** What is typed on the terminal. */
  word: string;
  button: string;
  /** In place of the button where no passkey can be used. */
  without: Html | undefined;
}

const TITLES = {
  asking: html`The question is on the terminal that runs <code>pawl ui</code>`,
  working: html`pawl checks everything once more`,
  signing: html`Sign with your key`,
};

/** Something that waits for a person: for a word on the terminal, or for the touch of a key. */
export function signSection(
  { state, said, request }: Underway,
  { path, word, button, without }: About,
): Html {
  const how = {
    asking: html`Compare the digits there with those below, then type <b>${word}</b> and press Enter. Anything else means no.`,
    working: html`This takes as long as the checks that run again.`,
    signing: html`Compare the digits with those on the terminal first. Your browser asks for your finger, face or PIN, and signs this and nothing else.`,
  };
  if (state === "done" || state === "refused") return html``;
  return html`<section class="card sign" id="asking" data-poll="${state}" aria-live="polite"><h2>${TITLES[state]}</h2>
<p>${how[state]}</p>
${request && (without ?? html`<p class="row"><button type="button" class="btn go" id="sign" disabled data-to="${path}/sign" data-challenge="${request.challenge}" data-rp="${request.rp}" data-credentials="${request.credentials.join(" ")}">${button}</button> <span id="sign-said" role="status" class="dim"></span></p>`)}
<pre class="said">${visible(said)}</pre>
<form method="post" action="${path}/withdraw" class="row"><button>Cancel</button> <a class="btn" href="${path}">Look again</a></form></section>`;
}

/** What a browser sends of an assertion: four texts in base64url. */
export function assertionOf(body: unknown): Assertion {
  const { credential, authenticator_data, client_data, signature } = fieldsOf(body);
  if (!credential || !authenticator_data || !client_data || !signature)
    throw new Failure("usage", "bad_input", "That is not a passkey's answer.");
  return { credential, authenticator_data, client_data, signature };
}
