// Passkeys: making one, and having it sign. What is signed is decided by the server and checked by it; a click signs nothing.
import { all, byId, post } from "/page.js";

const bytesOf = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
const textOf = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
const say = (words) => {
  byId("sign-said").textContent = words;
};

/** A refusal is a page with a heading, or plain text if the door refused. */
async function reasonOf(answer) {
  const text = await answer.text();
  return new DOMParser().parseFromString(text, "text/html").querySelector("main h2")?.textContent ?? text;
}

async function tryIt(act) {
  try {
    say("Waiting for your key …");
    const answer = await act();
    if (answer.ok) location.reload();
    else say(await reasonOf(answer));
  } catch (error) {
    say(error.name === "NotAllowedError" ? "Not signed: nobody answered, or it was refused." : error.message);
  }
}

byId("sign")?.addEventListener("click", ({ currentTarget: { dataset } }) =>
  tryIt(async () => {
    const { rawId, response } = await navigator.credentials.get({
      publicKey: {
        challenge: bytesOf(dataset.challenge),
        rpId: dataset.rp,
        allowCredentials: dataset.credentials
          .split(" ")
          .map((id) => ({ type: "public-key", id: bytesOf(id) })),
        userVerification: "required",
      },
    });
    return post(dataset.to, {
      credential: textOf(rawId),
      authenticator_data: textOf(response.authenticatorData),
      client_data: textOf(response.clientDataJSON),
      signature: textOf(response.signature),
    });
  }),
);

const ALGORITHMS = { "-7": "ES256", "-8": "EdDSA", "-257": "RS256" };

byId("enrol")?.addEventListener("submit", (event) => {
  event.preventDefault();
  const { name, as, repo } = Object.fromEntries(new FormData(event.target));
  tryIt(async () => {
    const { rawId, response } = await navigator.credentials.create({
      publicKey: {
        challenge: crypto.getRandomValues(new Uint8Array(32)),
        rp: { id: location.hostname, name: "pawl" },
        user: { id: crypto.getRandomValues(new Uint8Array(16)), name: as, displayName: name },
        pubKeyCredParams: Object.keys(ALGORITHMS).map((alg) => ({ type: "public-key", alg: Number(alg) })),
        authenticatorSelection: { userVerification: "required" },
      },
    });
    const algorithm = ALGORITHMS[response.getPublicKeyAlgorithm()];
    return post("/approvers", {
      name,
      as,
      repo,
      passkey: `${textOf(rawId)}.${algorithm}.${textOf(response.getPublicKey())}`,
    });
  });
});

// Until this script listens, a click would do nothing, so the buttons start disabled.
for (const button of all("#sign, #enrol button")) button.disabled = false;
