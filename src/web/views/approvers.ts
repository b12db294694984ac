import { approverList } from "../../ops/approver-list.ts";
import { APPROVERS } from "../deciding.ts";
import { page, seeOther } from "../exchange.ts";
import { fieldsOf } from "../fields.ts";
import { type Html, html } from "../html.ts";
import { layout, short, tag } from "../layout.ts";
import { assertionOf, isOpen, signSection } from "./sign-section.ts";
import type { View } from "./view.ts";

/** Whose keys decide, and a place to enrol a passkey of this browser. */
export const approvers: View = async ({ ask, deciding }) => {
  const { data } = await ask(approverList, {});
  const underway = deciding.underway.of(APPROVERS);
  const main = html`<div class="title"><h1>Approvers</h1></div>
<p class="dim">Whose keys decide on each protected branch, as its own tip says it.</p>
${underway?.refusal && html`<section class="refusal" role="alert"><h2>Not enrolled: ${underway.refusal.message}</h2>${underway.refusal.hint && html`<p>${underway.refusal.hint}</p>`}</section>`}
${data.branches.map(branchSection)}
${underway && isOpen(underway) ? signSection(underway, { path: "/approvers", word: "the key's name", button: "Sign with your key" }) : enrolForm()}`;
  const command = "pawl approver list";
  return page(layout({ title: "Approvers", section: "audit", command, main, kind: "narrow" }));
};

type Branch = Parameters<typeof approverList.text>[0]["branches"][number];

const branchSection = ({ branch, approvals, approvers: all, broken, root, came }: Branch): Html =>
  html`<section class="prose"><h2>${branch}</h2><p>Approvals are ${approvals}.${root !== undefined && html` Trust begins with <span class="m">${short(root)}</span>, ${came ?? "which no record tells of"}.`}</p>${
    all.length === 0
      ? html`<p class="empty">${broken ? "The list cannot be read: nobody can decide." : "Nobody is enrolled. A key makes a yes that anybody can check later; without one there is the terminal."}</p>`
      : html`<table class="sum"><caption class="vh">Keys of ${branch}</caption><thead><tr><th scope="col">Key</th><th scope="col">Whose</th><th scope="col">Kind</th><th scope="col">A signature says</th></tr></thead><tbody>${all.map((one) => html`<tr><th scope="row">${one.key}</th><td>${one.name}</td><td>${one.kind === "webauthn" ? "passkey" : "ssh"}</td><td>${tag(one.level, one.level === "present" ? "ok" : "warn")}</td></tr>`)}</tbody></table>`
  }</section>`;

const enrolForm =
  (): Html => html`<section class="card sign" aria-labelledby="enrol-title"><h2 id="enrol-title">Enrol a passkey</h2>
<p>A security key, your phone, or the finger and PIN of this machine. The question comes on the terminal that runs <code>pawl ui</code>; then the new key, or one that is enrolled already, signs it. Enrol two, so that losing one is no trouble.</p>
<form id="enrol" class="act"><p class="field"><label for="name"><b>Whose key it is</b></label><input id="name" name="name" required autocomplete="name"></p>
<p class="field"><label for="as"><b>A short name for it</b> <span class="dim">small letters, digits and hyphens</span></label><input id="as" name="as" required pattern="[a-z0-9][a-z0-9\\-]{0,39}" placeholder="ada-yubikey"></p>
<p class="row"><button class="btn go" disabled>Make a passkey…</button> <span id="sign-said" role="status" class="dim"></span></p></form>
<noscript><p class="warning">A passkey is made by a script. Without one: <code>pawl approver add --ssh FILE</code></p></noscript></section>`;

export const enrol: View = async ({ deciding, request }) => {
  const { name = "", as, passkey = "" } = fieldsOf(request.body);
  deciding.enrol({ name, as, passkey });
  return seeOther("/approvers");
};

export const signEnrolment: View = async ({ deciding, request }) => {
  deciding.underway.answer(APPROVERS, assertionOf(request.body));
  return seeOther("/approvers");
};

export const withdrawEnrolment: View = async ({ deciding }) => {
  deciding.underway.withdraw(APPROVERS);
  return seeOther("/approvers");
};
