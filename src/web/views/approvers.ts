import { Failure } from "../../model/failure.ts";
import { approverList } from "../../ops/approver-list.ts";
import { repoList } from "../../ops/repo-list.ts";
import type { Ask } from "../ask.ts";
import { APPROVERS } from "../deciding.ts";
import { page, seeOther } from "../exchange.ts";
import { fieldsOf } from "../fields.ts";
import { type Html, html } from "../html.ts";
import { layout, short, tag } from "../layout.ts";
import { inline } from "../markdown.ts";
import { assertionOf, isOpen, noPasskeys, signSection } from "./sign-section.ts";
import type { View } from "./view.ts";

/** Whose keys decide in each repository, and a place to enrol a passkey of this browser. */
export const approvers: View = async ({ ask, deciding, request }) => {
  const underway = deciding.underway.of(APPROVERS);
  const { data: around } = await ask(repoList, {});
  const repos: Repo[] = [];
  for (const { name, path } of around.repos)
    if (path !== null) repos.push({ name, ...(await listOf(ask, name)) });
  const without = noPasskeys(request);
  const main = html`<div class="title"><h1>Approvers</h1></div>
<p class="dim">Whose keys may approve, as each protected branch itself says.</p>
${underway?.refusal && html`<section class="refusal" role="alert"><h2>Not enrolled: ${underway.refusal.message}</h2>${underway.refusal.hint && html`<p>${inline(underway.refusal.hint)}</p>`}</section>`}
${repos.map((repo) => repoSection(repo, repos, without === undefined))}
${underway && isOpen(underway) ? signSection(underway, { path: "/approvers", word: "the key's name", button: "Sign with your key", without }) : (without ?? enrolForm(repos))}`;
  const command = "pawl approver list";
  return page(layout({ title: "Approvers", section: "audit", command, main, kind: "narrow" }));
};

type Branch = Parameters<typeof approverList.text>[0]["branches"][number];

interface Repo {
  name: string;
  branches: readonly Branch[];
  /** Why nobody can be named there. */
  why?: string;
}

async function listOf(ask: Ask, repo: string): Promise<Omit<Repo, "name">> {
  try {
    return (await ask(approverList, { repo })).data;
  } catch (error) {
    if (error instanceof Failure && error.kind === "refused") return { branches: [], why: error.message };
    throw error;
  }
}

/** One approval covers all repositories of a task, so the same key has to count in each of them. */
function repoSection(repo: Repo, all: readonly Repo[], canSign: boolean): Html {
  const known = repo.branches.flatMap((one) => one.approvers.map((each) => each.passkey));
  const elsewhere = all
    .flatMap((other) => other.branches.flatMap((one) => one.approvers))
    .filter((one) => one.passkey !== undefined && !known.includes(one.passkey));
  const others = [...new Map(elsewhere.map((one) => [one.passkey, one])).values()];
  return html`${repo.why !== undefined && html`<section class="prose"><h2>${repo.name}</h2><p class="dim">${repo.why}</p></section>`}${repo.branches.map((one) => branchSection(one, repo.name, all.length > 1))}${canSign && repo.branches.length > 0 && others.map((one) => html`<form method="post" action="/approvers" class="row"><input type="hidden" name="name" value="${one.name}"><input type="hidden" name="as" value="${one.key}"><input type="hidden" name="passkey" value="${one.passkey}"><input type="hidden" name="repo" value="${repo.name}"><button>Let ${one.key} approve in ${repo.name} too…</button></form>`)}`;
}

const branchSection = (
  { branch, approvals, approvers: all, broken, root, came }: Branch,
  repo: string,
  isOneOfSeveral: boolean,
): Html =>
  html`<section class="prose"><h2>${branch}${isOneOfSeveral && ` of ${repo}`}</h2><p>Approvals are ${approvals}.${root !== undefined && html` Trust begins with <span class="m">${short(root)}</span>, ${came ?? "which no record explains"}.`}</p>${
    all.length === 0
      ? html`<p class="empty">${broken ? "The list cannot be read, so nobody can approve." : "No keys yet. A key makes an approval that anybody can verify later; without one, you approve on the terminal."}</p>`
      : html`<table class="sum"><caption class="vh">Keys of ${branch} of ${repo}</caption><thead><tr><th scope="col">Key</th><th scope="col">Owner</th><th scope="col">Kind</th><th scope="col">Signature proves</th></tr></thead><tbody>${all.map((one) => html`<tr><th scope="row">${one.key}</th><td>${one.name}</td><td>${one.kind === "webauthn" ? "passkey" : "ssh"}</td><td>${tag(one.level, one.level === "present" ? "ok" : "warn")}</td></tr>`)}</tbody></table>`
  }</section>`;

const enrolForm = (repos: readonly Repo[]): Html =>
  html`<section class="card sign" aria-labelledby="enrol-title"><h2 id="enrol-title">Enrol a passkey</h2>
<p>Use a security key, your phone, or this machine's fingerprint reader or PIN. The terminal that runs <code>pawl ui</code> asks first; then the new key, or one that is already enrolled, signs. Enrol two, so that losing one does no harm.</p>
<form id="enrol" class="act"><p class="field"><label for="name"><b>Owner</b> <span class="dim">whose key it is</span></label><input id="name" name="name" required autocomplete="name"></p>
<p class="field"><label for="as"><b>Name</b> <span class="dim">lower-case letters, digits and hyphens</span></label><input id="as" name="as" required pattern="[a-z0-9][a-z0-9\\-]{0,39}" placeholder="ada-yubikey"></p>
${repos.length > 1 && html`<p class="field"><label for="repo"><b>Repository</b> <span class="dim">add the others afterwards</span></label><select id="repo" name="repo">${repos.map((one) => html`<option>${one.name}</option>`)}</select></p>`}
<p class="row"><button class="btn go" disabled>Make a passkey…</button> <span id="sign-said" role="status" class="dim"></span></p></form>
<noscript><p class="warning">Making a passkey needs scripts. Without them: <code>pawl approver add --ssh FILE</code></p></noscript></section>`;

export const enrol: View = async ({ deciding, request }) => {
  const { name = "", as, passkey = "", repo } = fieldsOf(request.body);
  deciding.enrol({ name, as, passkey, repo });
  return seeOther("/approvers");
};

export const signEnrolment: View = async ({ deciding, request }) => {
  deciding.underway.answer(APPROVERS, assertionOf(request.body));
  return seeOther("/approvers");
};

export const withdrawEnrolment: View = async ({ deciding }) => {
  await deciding.underway.withdraw(APPROVERS);
  return seeOther("/approvers");
};
