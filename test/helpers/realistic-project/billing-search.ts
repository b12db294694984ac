import type { Story } from "./story.ts";

export const BILLING: Story[] = [
  {
    key: "bil-webhook",
    area: "billing",
    title: "Process payment webhooks exactly once",
    objective: "A webhook that the payment provider delivers twice changes an account once.",
    status: "done",
    labels: ["reliability"],
    touched: ["src/billing/webhook.ts", "src/billing/events.ts", "package.json"],
    decisions: [
      [
        "The provider's event id is a unique key in the same transaction as its effect",
        "A separate dedupe table lost the race under load",
        "src/billing/webhook.ts",
      ],
      [
        "We answer 200 before processing and work from a queue",
        "The provider retries after ten seconds and then gives up",
        "src/billing/webhook.ts",
        "src/billing/events.ts",
      ],
    ],
    findings: [
      [
        "high",
        "src/billing/webhook.ts",
        "The signature is compared with === and leaks timing",
        "Use a constant-time comparison",
      ],
      [
        "medium",
        "src/billing/events.ts",
        "Retry of a failed event has no backoff and hammers the database",
        "Exponential backoff with jitter as for chunks",
      ],
    ],
    handoffs: [
      [
        "Webhooks are idempotent, replayed a day of production traffic",
        "Add backoff to the retry of failed events",
        ["src/billing/webhook.ts", "src/billing/events.ts"],
      ],
    ],
  },
  {
    key: "bil-proration",
    area: "billing",
    title: "Prorate plan changes in the middle of a month",
    objective: "An upgrade on the 12th is billed for the remaining days only.",
    status: "done",
    touched: ["src/billing/proration.ts", "src/billing/invoice.ts"],
    decisions: [
      [
        "Days are counted in the customer's time zone",
        "Customers in Auckland were billed for a day they did not have",
        "src/billing/proration.ts",
      ],
      [
        "Amounts are integers of the smallest unit, rounding happens once per line",
        "Summing rounded halves was off by a cent in 2 percent of invoices",
        "src/billing/invoice.ts",
        "src/billing/proration.ts",
      ],
    ],
    findings: [
      [
        "medium",
        "src/billing/proration.ts",
        "A downgrade gives a negative line, which the tax module refuses",
        "Turn it into a credit note",
        "open",
      ],
    ],
    handoffs: [
      [
        "Upgrades are prorated",
        "Downgrades need credit notes",
        ["src/billing/proration.ts", "src/billing/invoice.ts"],
      ],
    ],
  },
  {
    key: "bil-tax",
    area: "billing",
    title: "Charge the right VAT in Europe",
    objective: "Invoices carry the rate of the customer's country, and none for a valid VAT number.",
    status: "done",
    touched: ["src/billing/tax.ts", "src/billing/invoice.ts"],
    decisions: [
      [
        "Rates are a table with validity dates in the repository",
        "Rates change twice a year and old invoices must not change",
        "src/billing/tax.ts",
      ],
      [
        "A VAT number that cannot be checked is accepted and checked again at night",
        "The government service is down every evening",
        "src/billing/tax.ts",
      ],
    ],
    findings: [
      [
        "high",
        "src/billing/tax.ts",
        "Credit notes use today's rate instead of the invoice's",
        "Copy the rate from the invoice",
      ],
    ],
    handoffs: [
      ["VAT is right for all 27 countries", "Northern Ireland needs its own code", ["src/billing/tax.ts"]],
    ],
  },
  {
    key: "bil-dunning",
    area: "billing",
    title: "Remind customers of failed payments",
    objective:
      "A card that fails is tried again, and the customer hears about it before the account is limited.",
    status: "active",
    depends: ["bil-webhook"],
    touched: ["src/billing/dunning.ts", "src/billing/mail.ts"],
    decisions: [
      [
        "Four attempts in fourteen days, then the account becomes read-only",
        "Deleting data because of a lost card is not forgivable",
        "src/billing/dunning.ts",
      ],
      [
        "Retry days avoid weekends and the first of the month",
        "Cards fail more often when salaries have not arrived",
        "src/billing/dunning.ts",
      ],
    ],
    findings: [
      [
        "medium",
        "src/billing/dunning.ts",
        "A customer who pays by hand still gets the last reminder",
        "Cancel the schedule on payment",
        "open",
      ],
    ],
    handoffs: [
      [
        "Schedule and mails work in the sandbox",
        "Cancel the schedule when the invoice is paid",
        ["src/billing/dunning.ts"],
      ],
    ],
  },
  {
    key: "bil-credit",
    area: "billing",
    title: "Credit notes for downgrades and refunds",
    objective: "A downgrade gives a credit note instead of a negative invoice line.",
    status: "open",
    plan: "Downgrades produce a credit note that refers to the invoice. See {bil-proration/F1}.",
    depends: ["bil-proration"],
    touched: ["src/billing/invoice.ts"],
  },
  {
    key: "bil-currency",
    area: "billing",
    title: "Bill in euros and pounds",
    objective: "Customers choose the currency once, and all invoices follow.",
    status: "done",
    touched: ["src/billing/currency.ts", "src/billing/plan.ts", "src/billing/invoice.ts"],
    decisions: [
      [
        "Prices are fixed per currency, never converted",
        "A converted price of 9.37 looks like a mistake",
        "src/billing/currency.ts",
        "src/billing/plan.ts",
      ],
    ],
    findings: [
      [
        "low",
        "src/billing/currency.ts",
        "The yen has no minor unit, and amounts are shown divided by 100",
        "Ask the currency for its digits",
      ],
    ],
    handoffs: [
      ["Euro and pound are live", "Yen is waiting for the display fix", ["src/billing/currency.ts"]],
    ],
  },
  {
    key: "bil-seats",
    area: "billing",
    title: "Bill teams by seat",
    objective: "A team pays for the members that were active in the month.",
    status: "open",
    depends: ["bil-proration"],
    decisions: [
      [
        "A seat counts from the day of the invitation's acceptance",
        "Invitations that nobody accepts cost nothing",
        "src/billing/seats.ts",
      ],
    ],
  },
];

export const SEARCH: Story[] = [
  {
    key: "sea-index",
    area: "search",
    title: "Update the search index incrementally",
    objective: "A renamed file is found under its new name within five seconds.",
    status: "done",
    touched: ["src/search/index-writer.ts", "src/search/segments.ts", "package.json"],
    decisions: [
      [
        "Segments are immutable and merged in the background",
        "Updating in place blocked readers for seconds",
        "src/search/index-writer.ts",
        "src/search/segments.ts",
      ],
      [
        "A crashed writer leaves its segment behind and it is thrown away",
        "Recovering half a segment was never right",
        "src/search/segments.ts",
      ],
    ],
    findings: [
      [
        "high",
        "src/search/segments.ts",
        "A merge deletes segments that an open reader still uses",
        "Count readers per segment",
      ],
    ],
    handoffs: [
      [
        "Incremental updates take 80 ms",
        "Count readers so that merges cannot pull segments away",
        ["src/search/index-writer.ts"],
      ],
    ],
  },
  {
    key: "sea-tokenizer",
    area: "search",
    title: "Tokenize file names the way people type them",
    objective: "`invoice_2024-final.pdf` is found by invoice, 2024, final and pdf.",
    status: "done",
    touched: ["src/search/tokenizer.ts"],
    decisions: [
      [
        "Split at underscores, dashes, dots and case changes, and keep the whole name as well",
        "People paste whole file names",
        "src/search/tokenizer.ts",
      ],
      [
        "Accents are folded, umlauts also expand to two letters",
        "Müller is typed as Mueller and as Muller",
        "src/search/tokenizer.ts",
      ],
    ],
    findings: [
      [
        "medium",
        "src/search/tokenizer.ts",
        "Japanese names become one token and cannot be found by a part",
        "Index bigrams for scripts without spaces",
        "open",
      ],
    ],
    handoffs: [["Latin scripts work", "Bigrams for Japanese and Chinese", ["src/search/tokenizer.ts"]]],
  },
  {
    key: "sea-ranking",
    area: "search",
    title: "Rank recent and own files higher",
    objective: "The file somebody means is among the first three results.",
    status: "done",
    touched: ["src/search/ranking.ts", "src/search/query.ts"],
    decisions: [
      [
        "Recency is a multiplier that halves every 90 days",
        "An added bonus drowned exact matches",
        "src/search/ranking.ts",
      ],
      ["Own files count double, shared ones once", "Click logs of 200 volunteers", "src/search/ranking.ts"],
    ],
    findings: [
      [
        "low",
        "src/search/ranking.ts",
        "Ties are ordered by chance and results jump between reloads",
        "Order ties by id",
      ],
    ],
    handoffs: [
      [
        "Mean rank of the clicked result went from 4.1 to 2.2",
        "Order ties so that results do not jump",
        ["src/search/ranking.ts"],
      ],
    ],
  },
  {
    key: "sea-highlight",
    area: "search",
    title: "Highlight matches in previews",
    objective: "A result shows the sentence in which the words were found.",
    status: "active",
    depends: ["sea-tokenizer"],
    touched: ["src/search/highlight.ts", "src/search/tokenizer.ts"],
    decisions: [
      [
        "Offsets are stored in the index, the text is never tokenized again",
        "Tokenizing a 200-page document for each result took a second",
        "src/search/highlight.ts",
      ],
    ],
    findings: [
      [
        "high",
        "src/search/highlight.ts",
        "File names with angle brackets are written into the page unescaped",
        "Escape before marking",
        "open",
      ],
    ],
    handoffs: [
      [
        "Highlights work for documents",
        "Escape file names before marking matches",
        ["src/search/highlight.ts"],
      ],
    ],
  },
  {
    key: "sea-cjk",
    area: "search",
    title: "Find Japanese and Chinese file names",
    objective: "A part of a Japanese file name finds it.",
    status: "open",
    touched: ["src/search/tokenizer.ts"],
  },
  {
    key: "sea-suggest",
    area: "search",
    title: "Suggest searches while typing",
    objective: "The third letter brings useful suggestions in less than 50 ms.",
    status: "done",
    touched: ["src/search/suggest.ts", "src/search/query.ts"],
    decisions: [
      [
        "Suggestions come from the user's own past searches and file names only",
        "Global suggestions leaked project names between companies",
        "src/search/suggest.ts",
      ],
    ],
    findings: [
      [
        "medium",
        "src/search/suggest.ts",
        "Requests are answered out of order and old suggestions overwrite new ones",
        "Number the requests",
      ],
    ],
    handoffs: [["Suggestions answer in 20 ms", "Number the requests", ["src/search/suggest.ts"]]],
  },
  {
    key: "sea-permissions",
    area: "search",
    title: "Never show results without permission",
    objective: "A search result disappears in the same second in which access is withdrawn.",
    status: "done",
    labels: ["security"],
    touched: ["src/search/query.ts", "src/search/acl.ts"],
    decisions: [
      [
        "Permissions are checked at query time against the database, not stored in the index",
        "An index that lags shows what was withdrawn",
        "src/search/acl.ts",
        "src/search/query.ts",
      ],
    ],
    findings: [
      [
        "high",
        "src/search/acl.ts",
        "The total count includes results the user may not see",
        "Count after filtering",
      ],
    ],
    handoffs: [["Permission checks are on", "Cache group memberships for a minute", ["src/search/acl.ts"]]],
  },
  {
    key: "sea-merge-crash",
    area: "search",
    title: "Readers crash while segments are merged",
    objective: "A search that runs during a merge never fails.",
    status: "open",
    labels: ["reliability"],
    touched: ["src/search/segments.ts"],
  },
];
