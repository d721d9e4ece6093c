import { randomUUID } from "node:crypto";
import { Type } from "typebox";
import type { Clock } from "#runtime/clock.ts";
import type { Secrets } from "#runtime/secrets.ts";
import type { Store } from "#database/contract.ts";
import type { NewWork } from "#database/queries/outbox.ts";
import { finishWork } from "#database/queries/outbox.ts";
import type { WorkDeclaration } from "#database/work.ts";
import { declareWork, eachRow, workKind } from "#database/work.ts";
import type { Mail, MailTransport } from "./transport.ts";

/** `sealed`: the mail, encrypted, since it may have a link that signs in. `until`: the mail is of no use later. */
export const mailKind = workKind(
  "mail",
  Type.Object({ id: Type.String(), sealed: Type.String(), until: Type.Number() }),
  { canRetry: ({ until }, now) => until > now },
);

/** Attempts over about an hour, with the outbox's backoff. */
const attemptsMax = 14;
/** A mail server that hangs must not hold more than this many workers. */
const lanesMax = 4;

/** A mail to queue in the transaction that decides on it. */
export function mailWork(secrets: Pick<Secrets, "seal">, mail: Mail, now: number, usefulMs: number): NewWork {
  const id = randomUUID();
  return mailKind.queued(`mail:${id}`, { id, sealed: secrets.seal(JSON.stringify(mail)), until: now + usefulMs }, now);
}

export function declareMail({
  store,
  clock,
  secrets,
  transport,
}: {
  readonly store: Store;
  readonly clock: Clock;
  readonly secrets: Pick<Secrets, "open">;
  readonly transport: MailTransport;
}): WorkDeclaration {
  return declareWork(mailKind, {
    attemptsMax,
    lanesMax,
    run: eachRow(async (row) => {
      const { id, sealed, until } = row.payload;
      if (until > clock.now()) await transport.send(id, JSON.parse(secrets.open(sealed)) as Mail);
      await store.write((tx) => finishWork(tx, [row]));
    }),
  });
}
