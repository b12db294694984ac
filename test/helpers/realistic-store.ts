import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { formatNoteId, formatTaskId } from "../../src/model/ids.ts";
import { noteFile, partFile, taskFile, touchedFile } from "../../src/model/paths.ts";
import { type Kind, printRecord, type ValueOf } from "../../src/model/record.ts";
import {
  decision,
  evidence,
  finding,
  handoff,
  note,
  review,
  touched,
} from "../../src/model/records/parts.ts";
import { task } from "../../src/model/records/task.ts";
import { AUTH, UPLOADS } from "./realistic-project/auth-uploads.ts";
import { BILLING, SEARCH } from "./realistic-project/billing-search.ts";
import { BUILD, CLI } from "./realistic-project/cli-build.ts";
import { DOCS, NOTES, SYNC } from "./realistic-project/docs-sync.ts";
import type { NoteStory, Story } from "./realistic-project/story.ts";

const AREAS = [AUTH, UPLOADS, BILLING, SEARCH, CLI, BUILD, DOCS, SYNC];

/** Work that comes up everywhere: the same words and the same hot files in every area. */
const chores = (area: string): Story => ({
  key: `chore-${area}`,
  area,
  title: `Update the dependencies of ${area}`,
  objective: `No known vulnerability is left in what ${area} uses, and its tests still pass.`,
  status: "done",
  touched: ["package.json", "package-lock.json", "README.md", "CHANGELOG.md"],
  decisions: [
    [
      `Minor versions of what ${area} uses are updated together, major ones each on its own`,
      "A failure can be traced to one package",
      "package.json",
      "package-lock.json",
    ],
  ],
  findings: [["low", "CHANGELOG.md", `The update in ${area} is not in the changelog`, "Write one line"]],
  handoffs: [
    [
      `Dependencies of ${area} are current and the tests pass`,
      "Look again in a month",
      ["package.json", "package-lock.json"],
    ],
  ],
});

/** Areas take turns, as they do in a real project, so that neighbours in number have nothing in common. */
function allStories(): Story[] {
  const stories: Story[] = [];
  for (let round = 0; AREAS.some((area) => area[round]); round++)
    for (const area of AREAS) if (area[round]) stories.push(area[round] as Story);
  return [...stories, ...AREAS.map((area) => chores(area[0]?.area ?? ""))];
}

export interface RealisticStore {
  /** The id of a record that the stories call `upl-retry/D1`. */
  idOf(key: string): string;
  tasks: number;
  records: number;
}

/** Writes the project's whole memory into a state folder: always the same bytes. */
export function fillRealisticStore(state: string): RealisticStore {
  const stories = allStories();
  const ids = new Map(stories.map((story, index) => [story.key, formatTaskId(index + 1)]));
  NOTES.forEach((one, index) => {
    ids.set(one.key, formatNoteId(index + 1));
  });
  const idOf = (key: string) => {
    const [name = "", part] = key.split("/");
    const id = ids.get(name);
    if (id === undefined) throw new Error(`No story is called ${name}`);
    return part === undefined ? id : `${id}/${part}`;
  };
  const writer = new Writer(state, idOf);
  stories.forEach((story, index) => {
    writer.story(story, index);
  });
  NOTES.forEach((one, index) => {
    writer.note(one, index);
  });
  return { idOf, tasks: stories.length, records: writer.count };
}

const ACTORS = ["human:Ada", "agent:claude", "human:Grace", "agent:codex"];
const DAY_MS = 24 * 3_600_000;
const hex = (seed: number, length: number) =>
  Array.from({ length }, (_, index) => ((seed * 31 + index * index * 7 + index) % 16).toString(16)).join("");

class Writer {
  count = 0;
  private readonly state: string;
  private readonly idOf: (key: string) => string;

  constructor(state: string, idOf: (key: string) => string) {
    this.state = state;
    this.idOf = idOf;
  }

  story(story: Story, index: number): void {
    const id = this.idOf(story.key);
    const made = (day: number) => this.made(index * 4 + day);
    this.write(task, taskFile(id), {
      ...{ id, title: story.title, status: story.status, profile: "standard", base_branch: "main" },
      ...{ repos: ["harbor"], labels: [story.area, ...(story.labels ?? [])] },
      ...{ depends_on: (story.depends ?? []).map(this.idOf), blocker: undefined, next: [], archived: false },
      ...{ plan_digest: undefined, slices: [], ...made(0), branch: undefined },
      ...{ objective: story.objective, plan: this.resolve(story.plan ?? ""), acceptance: "", notes: "" },
    });
    (story.decisions ?? []).forEach(([what, why, ...changed], nth) => {
      this.part(decision, id, nth, { slice: undefined, changed, ...made(1 + nth), what, why });
    });
    (story.findings ?? []).forEach(([severity, file, text, fix, status = "fixed"], nth) => {
      const settled =
        status === "open" ? {} : { resolved_commit: hex(index + nth, 40), resolved_by: ACTORS[0] };
      this.part(finding, id, nth, {
        ...{ severity, kind: "branch", status, file, line: 10 + ((index * 17) % 200), reopened: 0 },
        ...{ resolved_commit: undefined, resolved_by: undefined, integrated_commit: undefined, ...settled },
        ...{ ...made(3), text, fix, resolution: "", reopen_reasons: "" },
      });
    });
    this.handoffs(story, id, index);
    if (story.decisions) this.proofs(story, id, index);
    if (story.touched) {
      const files = story.touched;
      this.write(touched, touchedFile(id, "0a1b2c3d"), { id: `${id}/touched/0a1b2c3d`, files, ...made(4) });
    }
  }

  note({ title, text, labels, files, key }: NoteStory, index: number): void {
    const id = this.idOf(key);
    this.write(note, noteFile(id), { id, title, labels, files, ...this.made(index * 9), text });
  }

  /** A first handoff in the middle of the work, and the ones that the story tells. */
  private handoffs(story: Story, id: string, index: number): void {
    const [first] = story.decisions ?? [];
    const told = (story.handoffs ?? []).map(([what, next, changed, blocker = ""]) => ({
      ...{ what, next, changed, blocker, validation: ["npm test: all passed"] },
    }));
    const early = first && {
      ...{ what: `Began: ${first[0]}`, next: "Write the tests for it", changed: first.slice(2), blocker: "" },
      validation: [],
    };
    [...told, ...(early ? [early] : [])].reverse().forEach((one, nth) => {
      const { what, next, changed, blocker, validation } = one;
      this.part(handoff, id, nth, {
        changed,
        validation,
        ...this.made(index * 4 + 2 + nth),
        what,
        blocker,
        next,
      });
    });
  }

  private proofs(story: Story, id: string, index: number): void {
    const runs = [
      {
        kind: "red",
        exit_code: 1,
        argv: ["npx", "vitest", "run", `test/${story.area}`],
        output: "1 failed | 41 passed",
      },
      {
        kind: "green",
        exit_code: 0,
        argv: ["npx", "vitest", "run", `test/${story.area}`],
        output: "42 passed",
      },
      { kind: "check", exit_code: 0, argv: ["npm", "test"], output: "Test Files 88 passed" },
    ] as const;
    runs.forEach(({ kind, exit_code, argv, output }, nth) => {
      this.part(evidence, id, nth, {
        ...{
          kind,
          check: kind === "check" ? "test" : undefined,
          slice: undefined,
          argv: [...argv],
          exit_code,
        },
        ...{ duration_ms: 900 + index, output_sha256: hex(index, 64), output_bytes: output.length },
        ...{ head: hex(index, 40), tree: hex(index + 3, 40), dirty: false, unstable: false },
        ...{ ...this.made(index * 4 + 2), output },
      });
    });
    if (story.status !== "done") return;
    this.part(review, id, 0, {
      ...{ kind: "branch", verdict: "pass_with_findings", subject: id, head: hex(index, 40) },
      ...{ plan_digest: undefined, looked_at: story.touched ?? [], findings: [], counts: true },
      ...{ ...this.made(index * 4 + 3), summary: "Read the whole diff and ran the tests." },
    });
  }

  private part(kind: Kind, id: string, nth: number, value: Record<string, unknown>): void {
    const name = `${kind.letter}${nth + 1}`;
    this.write(kind, partFile(kind, id, name), { id: `${id}/${name}`, ...value });
  }

  private write(kind: Kind, path: string, value: Record<string, unknown>): void {
    const file = join(this.state, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, printRecord(kind, value as ValueOf<Kind>));
    this.count++;
  }

  private resolve(text: string): string {
    return text.replace(/\{([^}]+)\}/g, (_, key: string) => this.idOf(key));
  }

  private made(day: number) {
    const created = new Date(Date.UTC(2026, 0, 5) + (day % 300) * DAY_MS).toISOString();
    return {
      ...{ rev: 1, actor: ACTORS[day % ACTORS.length] ?? "", created, updated: created },
      ...{ repo: "harbor", branch: "main", commit: undefined },
    };
  }
}
