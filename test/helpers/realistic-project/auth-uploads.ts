import type { Story } from "./story.ts";

/** Harbor is a file sharing service with a desktop sync client and a command line. */
export const AUTH: Story[] = [
  {
    key: "auth-session",
    area: "auth",
    title: "Keep sessions alive across deploys",
    objective: "A signed-in user stays signed in when the servers restart.",
    status: "done",
    touched: ["src/auth/session.ts", "src/auth/session-store.ts", "package.json"],
    decisions: [
      [
        "Sessions live in Redis, not in process memory",
        "Every deploy signed out 4,000 users",
        "src/auth/session-store.ts",
        "package.json",
      ],
      [
        "A session id is 32 random bytes, never derived from the user",
        "Guessable ids were reported by a customer's audit",
        "src/auth/session.ts",
      ],
    ],
    findings: [
      [
        "high",
        "src/auth/session-store.ts",
        "A Redis outage signs everybody out because a read error counts as no session",
        "Answer 503 on a store error, never 401",
      ],
      ["low", "src/auth/session.ts", "The cookie name is hard-coded twice", "Export one constant"],
    ],
    handoffs: [
      [
        "Sessions survive a rolling restart in staging",
        "Watch memory of the Redis instance for a week",
        ["src/auth/session-store.ts"],
      ],
    ],
  },
  {
    key: "auth-refresh",
    area: "auth",
    title: "Rotate refresh tokens on every use",
    objective: "A stolen refresh token can be used at most once before both holders are signed out.",
    plan: "1. Store a token family per device.\n2. Replace the refresh token on each exchange.\n3. Revoke the family when an old token comes back.",
    status: "done",
    labels: ["security"],
    touched: ["src/auth/token.ts", "src/auth/token-family.ts"],
    decisions: [
      [
        "A reused refresh token revokes its whole family",
        "One of the two holders is a thief and we cannot tell which",
        "src/auth/token-family.ts",
      ],
      [
        "Old refresh tokens stay valid for 20 seconds after rotation",
        "Two browser tabs refresh at the same moment and one of them would be signed out",
        "src/auth/token.ts",
      ],
    ],
    findings: [
      [
        "high",
        "src/auth/token.ts",
        "The grace period is not limited to one reuse, so a thief can refresh forever within it",
        "Count reuses per token",
        "open",
      ],
    ],
    handoffs: [
      [
        "Rotation is live for web clients",
        "Turn it on for the desktop client after its next release",
        ["src/auth/token.ts", "src/auth/token-family.ts"],
      ],
    ],
  },
  {
    key: "auth-device",
    area: "auth",
    title: "Sign in from the command line with a device code",
    objective: "`harbor login` works on a machine without a browser.",
    status: "done",
    labels: ["cli"],
    touched: ["src/auth/device-code.ts", "src/cli/login.ts"],
    decisions: [
      [
        "The CLI polls every five seconds and slows down when told",
        "The OAuth device flow demands slow_down handling",
        "src/auth/device-code.ts",
      ],
      [
        "The token is kept in the system keychain, a file only as a fallback",
        "Plain files end up in backups",
        "src/cli/login.ts",
        "src/cli/credentials.ts",
      ],
    ],
    findings: [
      [
        "medium",
        "src/cli/credentials.ts",
        "The fallback file is created with mode 0644",
        "Create it with 0600 before writing",
      ],
    ],
    handoffs: [
      [
        "Device login works on Linux and macOS",
        "Windows credential manager still needs a helper",
        ["src/cli/login.ts", "src/auth/device-code.ts"],
      ],
    ],
  },
  {
    key: "auth-lockout",
    area: "auth",
    title: "Slow down password guessing",
    objective: "Guessing a password online takes years, while a forgetful user is never locked out for long.",
    status: "done",
    labels: ["security"],
    touched: ["src/auth/rate-limit.ts", "src/auth/password.ts"],
    decisions: [
      [
        "Backoff per account and per network, doubling from one second",
        "A lockout after five attempts lets anybody lock anybody out",
        "src/auth/rate-limit.ts",
      ],
      [
        "Counters are kept in Redis with a TTL, not in the database",
        "A guessing attack must not write to the primary",
        "src/auth/rate-limit.ts",
      ],
    ],
    findings: [
      [
        "medium",
        "src/auth/rate-limit.ts",
        "IPv6 clients get a new counter for every address of their /64",
        "Count by /64",
      ],
    ],
    handoffs: [
      [
        "Limits are on for the login form",
        "Apply the same limiter to the password reset form",
        ["src/auth/rate-limit.ts"],
      ],
    ],
  },
  {
    key: "auth-totp",
    area: "auth",
    title: "Second factor with authenticator apps",
    objective: "Users can protect their account with a time-based code.",
    status: "active",
    labels: ["security"],
    touched: ["src/auth/totp.ts", "src/auth/session.ts"],
    decisions: [
      [
        "A code is accepted one step early or late",
        "Phone clocks drift by up to 30 seconds",
        "src/auth/totp.ts",
      ],
      [
        "Ten recovery codes, shown once, stored hashed",
        "Support cannot verify identities by mail",
        "src/auth/recovery.ts",
      ],
    ],
    findings: [
      [
        "high",
        "src/auth/totp.ts",
        "The same code can be used twice within its window",
        "Remember the last accepted step per user",
        "open",
      ],
    ],
    handoffs: [
      [
        "Enrolment and verification work",
        "Remember the last accepted step so that a code cannot be replayed",
        ["src/auth/totp.ts"],
      ],
    ],
  },
  {
    key: "auth-reset",
    area: "auth",
    title: "Password reset limits",
    objective: "The reset form cannot be used to flood a mailbox or to guess reset links.",
    status: "open",
    labels: ["security"],
    plan: "Use the limiter of {auth-lockout} for the reset form, per account and per network.",
    touched: ["src/auth/password.ts"],
  },
  {
    key: "auth-oauth",
    area: "auth",
    title: "Sign in with Google and GitHub",
    objective: "New users can sign up without a password.",
    status: "done",
    touched: ["src/auth/oauth.ts", "package.json", "docs/quickstart.md"],
    decisions: [
      [
        "Accounts are linked by verified mail address only",
        "GitHub returns unverified addresses too, which would allow a takeover",
        "src/auth/oauth.ts",
      ],
      [
        "State and nonce are kept in a signed cookie",
        "Sign-in starts before there is a session",
        "src/auth/oauth.ts",
      ],
    ],
    findings: [
      [
        "high",
        "src/auth/oauth.ts",
        "The redirect address is taken from the query without a check",
        "Allow only our own origins",
      ],
    ],
    handoffs: [
      [
        "Both providers work in production",
        "Nothing left; the quickstart describes it",
        ["src/auth/oauth.ts", "docs/quickstart.md"],
      ],
    ],
  },
  {
    key: "auth-logout-all",
    area: "auth",
    title: "Sign out everywhere",
    objective: "One button ends all sessions and refresh tokens of an account.",
    status: "open",
    labels: ["security"],
    depends: ["auth-refresh"],
    touched: ["src/auth/session-store.ts", "src/auth/token-family.ts"],
    decisions: [
      [
        "Ending a session deletes it from Redis and bumps the account's token generation",
        "Access tokens are not stored and can only be outdated",
        "src/auth/session-store.ts",
      ],
    ],
  },
];

export const UPLOADS: Story[] = [
  {
    key: "upl-chunk",
    area: "uploads",
    title: "Upload large files in chunks",
    objective: "Files of up to 50 GB upload over slow lines without starting over.",
    status: "done",
    touched: ["src/uploads/chunk.ts", "src/uploads/multipart.ts", "package.json"],
    decisions: [
      [
        "Chunks of 8 MiB, sent four at a time",
        "Smaller chunks spend more time on requests, larger ones are lost more often",
        "src/uploads/chunk.ts",
      ],
      [
        "Object storage assembles the parts, our servers never see the bytes",
        "Traffic through our servers cost 30 percent of the bill",
        "src/uploads/multipart.ts",
      ],
    ],
    findings: [
      [
        "high",
        "src/uploads/multipart.ts",
        "Unfinished multipart uploads are never aborted and cost storage",
        "Abort after seven days with a lifecycle rule",
      ],
      [
        "low",
        "src/uploads/chunk.ts",
        "The part number starts at zero in the log and at one in the request",
        "Log what is sent",
      ],
    ],
    handoffs: [
      [
        "50 GB upload finished over a throttled line",
        "Retries per chunk come next",
        ["src/uploads/chunk.ts", "src/uploads/multipart.ts"],
      ],
    ],
  },
  {
    key: "upl-retry",
    area: "uploads",
    title: "Retry failed chunk uploads with backoff",
    objective: "A chunk that fails because of the network is sent again, politely.",
    status: "done",
    depends: ["upl-chunk"],
    labels: ["reliability"],
    touched: ["src/uploads/retry.ts", "src/uploads/chunk.ts"],
    decisions: [
      [
        "Exponential backoff with full jitter, at most six attempts per chunk",
        "Synchronized retries took the upload service down in March",
        "src/uploads/retry.ts",
      ],
      [
        "Only network errors, 429 and 5xx are retried",
        "A 403 means an expired signature and will never succeed",
        "src/uploads/retry.ts",
      ],
    ],
    findings: [
      [
        "medium",
        "src/uploads/retry.ts",
        "Retry-After is ignored when the service sends a date instead of seconds",
        "Parse both forms",
        "open",
      ],
      [
        "low",
        "src/uploads/retry.ts",
        "The jitter uses Math.random and cannot be tested",
        "Pass the random source in",
      ],
    ],
    handoffs: [
      [
        "Chunks survive a flaky network in the simulator",
        "Parse Retry-After dates",
        ["src/uploads/retry.ts", "src/uploads/chunk.ts"],
      ],
    ],
  },
  {
    key: "upl-resume",
    area: "uploads",
    title: "Resume uploads after a restart of the client",
    objective: "Closing the laptop in the middle of an upload loses at most one chunk.",
    status: "active",
    depends: ["upl-chunk"],
    labels: ["reliability"],
    plan: "1. Write down finished parts with their etags.\n2. Ask the storage service which parts it has.\n3. Continue with the first missing part, retrying as {upl-retry} does.",
    touched: ["src/uploads/resume.ts", "src/uploads/multipart.ts"],
    decisions: [
      [
        "The list of finished parts is asked from the storage service, the local file is only a hint",
        "A local list was wrong after a crash between request and write",
        "src/uploads/resume.ts",
      ],
    ],
    findings: [
      [
        "high",
        "src/uploads/resume.ts",
        "A changed source file is resumed and gives a corrupt upload",
        "Compare size and modification time, or the checksum",
        "open",
      ],
    ],
    handoffs: [
      [
        "Resume works when the file did not change",
        "Detect a changed source file before resuming",
        ["src/uploads/resume.ts"],
      ],
    ],
  },
  {
    key: "upl-checksum",
    area: "uploads",
    title: "Verify checksums end to end",
    objective: "A file that arrives damaged is noticed before it is shared.",
    status: "done",
    touched: ["src/uploads/checksum.ts", "src/uploads/chunk.ts"],
    decisions: [
      [
        "BLAKE3 over the whole file, computed while reading the chunks",
        "A second pass over 50 GB takes minutes",
        "src/uploads/checksum.ts",
      ],
      [
        "A mismatch fails the upload, it is never repaired silently",
        "Silent repair hid a bad disk for weeks",
        "src/uploads/checksum.ts",
      ],
    ],
    findings: [
      [
        "medium",
        "src/uploads/checksum.ts",
        "Hashing on the main thread freezes the progress display",
        "Move it to a worker",
      ],
    ],
    handoffs: [
      [
        "Checksums are verified on both ends",
        "Move hashing to a worker thread",
        ["src/uploads/checksum.ts", "src/uploads/chunk.ts"],
      ],
    ],
  },
  {
    key: "upl-progress",
    area: "uploads",
    title: "Show honest upload progress",
    objective: "The percentage never goes backwards and the estimate is within a factor of two.",
    status: "open",
    depends: ["upl-retry"],
    touched: ["src/uploads/progress.ts"],
  },
  {
    key: "upl-quota",
    area: "uploads",
    title: "Refuse uploads above the storage quota early",
    objective: "A user learns before the upload that the file does not fit into the plan.",
    status: "done",
    touched: ["src/uploads/quota.ts", "src/billing/plan.ts"],
    decisions: [
      [
        "The quota is reserved when the upload starts and released when it fails",
        "Two parallel uploads could both fit and then exceed it",
        "src/uploads/quota.ts",
      ],
      [
        "Limits come from the plan table, not from constants",
        "Sales changes them every quarter",
        "src/uploads/quota.ts",
        "src/billing/plan.ts",
      ],
    ],
    findings: [
      [
        "medium",
        "src/uploads/quota.ts",
        "A crashed upload keeps its reservation forever",
        "Let reservations expire with the multipart upload",
      ],
    ],
    handoffs: [
      [
        "Quota checks are on for all plans",
        "Expire reservations of crashed uploads",
        ["src/uploads/quota.ts"],
      ],
    ],
  },
  {
    key: "upl-dedupe",
    area: "uploads",
    title: "Skip uploads of content we already have",
    objective: "Uploading the same video twice takes seconds.",
    status: "dropped",
    touched: ["src/uploads/checksum.ts", "src/uploads/dedupe.ts"],
    decisions: [
      [
        "No deduplication across accounts",
        "Whether somebody else has a file is a secret: a hash lookup would tell",
        "src/uploads/dedupe.ts",
      ],
    ],
    handoffs: [
      [
        "Measured: only 3 percent of the traffic within one account repeats",
        "Not worth it; drop the task",
        ["src/uploads/dedupe.ts"],
      ],
    ],
  },
  {
    key: "upl-changed-source",
    area: "uploads",
    title: "Detect a source file that changes during its upload",
    objective: "A file that is written to while it uploads never arrives as a mix of two versions.",
    status: "open",
    labels: ["reliability"],
  },
];
