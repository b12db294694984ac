import type { AnyOperation } from "../ports/operation.ts";

type Loader = () => Promise<AnyOperation>;

/**
 * Every capability of pawl by its id, in the groups and the order of `pawl --help`: what one is doing when one needs it.
 * An operation is loaded when it is used, so that none pays for the others.
 */
export const groups = {
  begin: {
    "task.new": async () => (await import("./task-new.ts")).taskNew,
    "task.update": async () => (await import("./task-update.ts")).taskUpdate,
    "task.edit": async () => (await import("./task-edit.ts")).taskEdit,
    "task.ready": async () => (await import("./task-ready.ts")).taskReady,
    start: async () => (await import("./start.ts")).start,
    "lane.add": async () => (await import("./lane-add.ts")).laneAdd,
    "lane.update": async () => (await import("./lane-update.ts")).laneUpdate,
    "lane.close": async () => (await import("./lane-close.ts")).laneClose,
    run: async () => (await import("./run.ts")).run,
    "run.resume": async () => (await import("./run-resume.ts")).runResume,
    session: async () => (await import("./session.ts")).session,
    context: async () => (await import("./context.ts")).context,
  },
  work: {
    "slice.open": async () => (await import("./slice-open.ts")).sliceOpen,
    "slice.close": async () => (await import("./slice-close.ts")).sliceClose,
    decide: async () => (await import("./decide.ts")).decide,
    verify: async () => (await import("./verify.ts")).verify,
    "run.wait": async () => (await import("./run-wait.ts")).runWait,
    "run.stop": async () => (await import("./run-stop.ts")).runStop,
    touch: async () => (await import("./touch.ts")).touch,
    "note.add": async () => (await import("./note-add.ts")).noteAdd,
    refresh: async () => (await import("./refresh.ts")).refresh,
    rescue: async () => (await import("./rescue.ts")).rescue,
    snapshot: async () => (await import("./snapshot.ts")).snapshot,
    handoff: async () => (await import("./handoff.ts")).handoff,
  },
  review: {
    "review.start": async () => (await import("./review-start.ts")).reviewStart,
    "review.record": async () => (await import("./review-record.ts")).reviewRecord,
    "finding.add": async () => (await import("./finding-add.ts")).findingAdd,
    "finding.batch": async () => (await import("./finding-batch.ts")).findingBatch,
    "finding.list": async () => (await import("./finding-list.ts")).findingList,
    "finding.resolve": async () => (await import("./finding-resolve.ts")).findingResolve,
    "finding.reopen": async () => (await import("./finding-reopen.ts")).findingReopen,
    "finding.defer": async () => (await import("./finding-defer.ts")).findingDefer,
    "finding.wontfix": async () => (await import("./finding-wontfix.ts")).findingWontfix,
    diff: async () => (await import("./diff.ts")).diff,
    "diff.lines": async () => (await import("./diff-lines.ts")).diffLines,
    "diff.viewed": async () => (await import("./diff-viewed.ts")).diffViewed,
  },
  merge: {
    check: async () => (await import("./check.ts")).check,
    pr: async () => (await import("./pr.ts")).pr,
    approve: async () => (await import("./approve.ts")).approve,
    "approve.look": async () => (await import("./approve-look.ts")).approveLook,
    finish: async () => (await import("./finish.ts")).finish,
    unlock: async () => (await import("./unlock.ts")).unlockOperation,
    "task.archive": async () => (await import("./task-archive.ts")).taskArchive,
  },
  look: {
    inbox: async () => (await import("./inbox.ts")).inbox,
    watch: async () => (await import("./watch.ts")).watch,
    status: async () => (await import("./status.ts")).status,
    "task.list": async () => (await import("./task-list.ts")).taskList,
    "task.show": async () => (await import("./task-show.ts")).taskShow,
    search: async () => (await import("./search.ts")).search,
    "run.list": async () => (await import("./run-list.ts")).runList,
    "run.log": async () => (await import("./run-log.ts")).runLog,
    "lane.list": async () => (await import("./lane-list.ts")).laneList,
    "note.list": async () => (await import("./note-list.ts")).noteList,
    log: async () => (await import("./log.ts")).log,
    audit: async () => (await import("./audit.ts")).audit,
  },
  "set up": {
    install: async () => (await import("./install.ts")).install,
    uninstall: async () => (await import("./uninstall.ts")).uninstall,
    upgrade: async () => (await import("./upgrade.ts")).upgrade,
    doctor: async () => (await import("./doctor.ts")).doctor,
    "override.list": async () => (await import("./override-list.ts")).overrideList,
    "override.skill": async () => (await import("./override-skill.ts")).overrideSkill,
    "override.add": async () => (await import("./override-add.ts")).overrideAdd,
    "override.surface": async () => (await import("./override-surface.ts")).overrideSurface,
    "override.settle": async () => (await import("./override-settle.ts")).overrideSettle,
    "override.remove": async () => (await import("./override-remove.ts")).overrideRemove,
    "repo.list": async () => (await import("./repo-list.ts")).repoList,
    "repo.add": async () => (await import("./repo-add.ts")).repoAdd,
    "repo.remove": async () => (await import("./repo-remove.ts")).repoRemove,
    "approver.add": async () => (await import("./approver-add.ts")).approverAdd,
    "approver.list": async () => (await import("./approver-list.ts")).approverList,
    "approver.remove": async () => (await import("./approver-remove.ts")).approverRemove,
    "remote.trust": async () => (await import("./remote-trust.ts")).remoteTrust,
    "remote.list": async () => (await import("./remote-list.ts")).remoteList,
    "remote.forget": async () => (await import("./remote-forget.ts")).remoteForget,
    sync: async () => (await import("./sync.ts")).sync,
    "report-issue": async () => (await import("./report-issue.ts")).reportIssue,
    "run.conduct": async () => (await import("./run-conduct.ts")).runConduct,
    "hook.pre-push": async () => (await import("./hook-pre-push.ts")).hookPrePush,
  },
} satisfies Record<string, Record<string, Loader>>;

export type Group = keyof typeof groups;

export const operations: Readonly<Record<string, Loader>> = Object.assign({}, ...Object.values(groups));
