import type { Mutant } from "./mutant.ts";

const SCHEMA = "src/usage/usage-schema.ts";
const SUM = "src/usage/usage.ts";
const MONEY = "src/usage/money.ts";
const CONTRACT = "src/contract/contract.ts";
const BREACH = "src/contract/breach.ts";

export const USAGE: readonly Mutant[] = [
  {
    rule: "WB-230",
    file: SCHEMA,
    find: `z.int().min(0).max(Number.MAX_SAFE_INTEGER).optional()`,
    replace: `z.number().optional()`,
    why: "reads counts that are negative or not whole",
  },
  {
    rule: "WB-230",
    file: SCHEMA,
    find: `return part <= whole;`,
    replace: `return part <= whole || true;`,
    why: "reads more cached tokens than input tokens",
  },
  {
    rule: "WB-230",
    file: MONEY,
    find: `/^(?:0|[1-9][0-9]{0,14})(?:\\.[0-9]{1,12})?$/`,
    replace: `/^[-0-9.e]+$/`,
    why: "reads amounts with a sign or an exponent",
  },
  {
    rule: "WB-230",
    file: "src/envelope/verify-envelope.ts",
    find: `if ("usage" in body && body.usage !== undefined) checkUsage(body.usage, limits);`,
    replace: ``,
    why: "reads as many rows as are sent",
  },
  {
    rule: "WB-231",
    file: SUM,
    find: `return mergeUsage([...own, ...earlier, ...children]);`,
    replace: `return mergeUsage([...own, ...children]);`,
    why: "forgets what was used before a pause",
  },
  {
    rule: "WB-232",
    file: SUM,
    find: `return Math.min(one + other, Number.MAX_SAFE_INTEGER);`,
    replace: `return one + other;`,
    why: "writes sums that no number holds",
  },
  {
    rule: "WB-232",
    file: SUM,
    find: `\`\${cost?.currency ?? ""} \${model ?? ""}\``,
    replace: `model ?? ""`,
    why: "adds amounts of different currencies",
  },
  {
    rule: "WB-233",
    file: CONTRACT,
    find: `(counter.max_tokens ?? Infinity) > max_tokens`,
    replace: `(counter.max_tokens ?? 0) > max_tokens`,
    why: "takes a counter-offer that drops the cap",
  },
  {
    rule: "WB-233",
    file: BREACH,
    find: `return tokens > max_tokens`,
    replace: `return tokens >= max_tokens`,
    why: "calls it a breach to use what was agreed",
  },
  {
    rule: "WB-233",
    file: BREACH,
    find: `isMoreMoney(cost, max_cost) === true`,
    replace: `isMoreMoney(cost, max_cost) !== false`,
    why: "compares amounts of different currencies",
  },
];
