// Whether the time of a comparison leaks how much of a guessed secret is right. The same guess is compared, in turns,
// with a secret that shares its first half and with one that shares its second half. Each round uses new secrets, since
// their location in memory affects the time, too; a t-test over the rounds separates the two effects.
//   node bench/secret-timing.ts [--rounds 300 --samples 300]
import { createHmac, randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { provesIdentity } from "#domain/customer/identity-proof.ts";
import { createSecrets } from "#runtime/secrets.ts";
import { quantile } from "#test/support/quantile.ts";

const { values: options } = parseArgs({
  options: { rounds: { type: "string", default: "300" }, samples: { type: "string", default: "300" } },
});
const rounds = Number(options.rounds);
const samples = Number(options.samples);
/** The usual bound of such tests: a larger t means that the times differ. */
const bound = 4.5;
/** The slowest tenth of the times is dropped as interruptions. */
const keptShare = 0.9;
/** Calls per measured time: one call is too short for the clock. */
const calls = 8;

interface Subject {
  readonly name: string;
  /** Compares with the secret that shares the guess's second half. */
  readonly wrongAtBeginning: () => unknown;
  readonly wrongAtEnd: () => unknown;
}

/** Randomises which secret plays which role, so that a difference between the two closures averages out. */
const either = (subject: (swapped: boolean) => Subject): Subject => {
  const swapped = Math.random() < 0.5;
  const made = subject(swapped);
  const { name, wrongAtBeginning, wrongAtEnd } = made;
  return swapped ? { name, wrongAtBeginning: wrongAtEnd, wrongAtEnd: wrongAtBeginning } : made;
};

/** The first half of one buffer and the second half of the other. */
const halves = (first: Buffer, second: Buffer): Buffer =>
  Buffer.concat([first.subarray(0, first.length / 2), second.subarray(second.length / 2)]);

function identity(swapped: boolean): Subject {
  const [a, b] = [randomBytes(32).toString("hex"), randomBytes(32).toString("hex")];
  const proof = (secret: string): Buffer => createHmac("sha256", secret).update("ada").digest();
  const guess = (swapped ? halves(proof(b), proof(a)) : halves(proof(a), proof(b))).toString("hex");
  return {
    name: "hash of a user's id",
    wrongAtBeginning: () => provesIdentity(b, "ada", guess),
    wrongAtEnd: () => provesIdentity(a, "ada", guess),
  };
}

function session(swapped: boolean): Subject {
  const [a, b] = [createSecrets(randomBytes(32).toString("hex")), createSecrets(randomBytes(32).toString("hex"))];
  const signature = ({ sign }: typeof a): Buffer =>
    Buffer.from(sign("session", "visitor").split(".")[1] ?? "", "base64url");
  const mixed = swapped ? halves(signature(b), signature(a)) : halves(signature(a), signature(b));
  const guess = `${Buffer.from("visitor").toString("base64url")}.${mixed.toString("base64url")}`;
  return {
    name: "token of a visitor's session",
    wrongAtBeginning: () => b.verify("session", guess),
    wrongAtEnd: () => a.verify("session", guess),
  };
}

/** A leaky comparison as a control: the benchmark must detect it. */
function leaky(swapped: boolean): Subject {
  const [a, b] = [randomBytes(64), randomBytes(64)];
  const guess = swapped ? halves(b, a) : halves(a, b);
  const compare = (secret: Buffer): boolean => secret.every((byte, at) => byte === guess[at]);
  return {
    name: "(a loop that stops at the first difference)",
    wrongAtBeginning: () => compare(b),
    wrongAtEnd: () => compare(a),
  };
}

function time(compare: () => unknown): number {
  const begun = process.hrtime.bigint();
  for (let i = 0; i < calls; i += 1) compare();
  return Number(process.hrtime.bigint() - begun) / calls;
}

/** The means of one round, without interruptions. */
function measure({ wrongAtBeginning, wrongAtEnd }: Subject): { readonly beginning: number; readonly end: number } {
  const beginning: number[] = [];
  const end: number[] = [];
  for (let i = 0; i < samples; i += 1) {
    // Random order: the second call finds warm caches.
    const order = Math.random() < 0.5;
    if (order) beginning.push(time(wrongAtBeginning));
    end.push(time(wrongAtEnd));
    if (!order) beginning.push(time(wrongAtBeginning));
  }
  const most = quantile([...beginning, ...end], keptShare);
  const usual = (values: readonly number[]): number => mean(values.filter((each) => each <= most));
  return { beginning: usual(beginning), end: usual(end) };
}

const mean = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;

/** The mean of the differences in units of its standard error. */
function t(differences: readonly number[]): number {
  const middle = mean(differences);
  const variance = differences.reduce((sum, each) => sum + (each - middle) ** 2, 0) / (differences.length - 1);
  return middle / Math.sqrt(variance / differences.length);
}

console.log("| compared | wrong at the beginning, ns | wrong at the end, ns | t |");
console.log("|---|---|---|---|");
for (const make of [identity, session, leaky]) {
  // Warms up the compiler.
  for (let i = 0; i < 20; i += 1) measure(either(make));
  const measured = Array.from({ length: rounds }, () => measure(either(make)));
  const score = t(measured.map(({ beginning, end }) => beginning - end));
  const [beginning, end] = [mean(measured.map((each) => each.beginning)), mean(measured.map((each) => each.end))];
  const verdict = Math.abs(score) < bound ? "" : ": differs";
  console.log(`| ${make(false).name} | ${beginning.toFixed(1)} | ${end.toFixed(1)} | ${score.toFixed(1)}${verdict} |`);
}
