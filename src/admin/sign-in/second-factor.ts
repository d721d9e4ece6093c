import { createHmac, randomBytes } from "node:crypto";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { Problem } from "#domain/problem.ts";
import type { Clock } from "#runtime/clock.ts";
import type { Secrets } from "#runtime/secrets.ts";
import type { Reader, Store, Tx } from "#database/contract.ts";
import { recordChange } from "#admin/audit.ts";
import type { OwnAccount } from "./own-account.ts";
import { matchTotp, newTotpSecret, totpUri } from "./totp.ts";

export interface SecondFactorDependencies {
  readonly store: Store;
  readonly clock: Clock;
  readonly secrets: Secrets;
}

/** Time to scan the QR code and to type the first code. */
const setupMs = 30 * 60_000;
const recoveryCodes = 10;
/** Without letters that look like others. */
const recoveryAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
const recoveryPattern = /^[0-9a-hjkmnp-tv-z]{10}$/;

/** Sealed, so that a secret is stored only once its first code was right. */
const setup = Type.Object({ totpOf: Type.String(), secret: Type.String(), until: Type.Number() });

/** A new secret to show to the agent. `setup` has to come back with its first code. */
export function beginSecondFactor(
  { clock, secrets }: Pick<SecondFactorDependencies, "clock" | "secrets">,
  { agentId, email }: OwnAccount,
  issuer: string,
) {
  const secret = newTotpSecret();
  return {
    secret,
    uri: totpUri(secret, issuer, email),
    setup: secrets.seal(JSON.stringify({ totpOf: agentId, secret, until: clock.now() + setupMs })),
  };
}

/** Turns the second factor on. Returns the recovery codes, of which this is the only unencrypted copy. */
export async function confirmSecondFactor(
  { store, clock, secrets }: SecondFactorDependencies,
  account: OwnAccount,
  given: { readonly setup: string; readonly code: string },
): Promise<readonly string[]> {
  const { agentId, email, workspaceId, actor } = account;
  const now = clock.now();
  const secret = setupSecret(secrets, agentId, given.setup, now);
  const step = matchTotp(secret, given.code, now, null);
  if (step === undefined) {
    throw new Problem(
      "invalid_parameter",
      "code: this is not right. Check that the clock of your phone is set automatically, and enter the newest code.",
    );
  }
  const codes = newRecoveryCodes();
  const change = { workspaceId, by: actor, action: "sign_in_changed", subject: `second factor of ${email}` } as const;
  await store.write(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable("agents")
      .set({ second_factor: secrets.seal(secret), second_factor_step: step })
      .where("id", "=", agentId)
      .where("password", "is not", null)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw new Problem("invalid_parameter", "Set a password first.");
    await storeRecoveryCodes(tx, secrets, agentId, codes, now);
    await recordChange(tx, { ...change, to: "on", now });
  });
  return codes;
}

function setupSecret(secrets: Secrets, agentId: string, sealed: string, now: number): string {
  let given: unknown;
  try {
    given = JSON.parse(secrets.open(sealed));
  } catch (error) {
    throw new Problem("invalid_parameter", "setup: begin the set-up again.", { cause: error });
  }
  if (!Value.Check(setup, given) || given.totpOf !== agentId || given.until <= now) {
    throw new Problem("invalid_parameter", "The set-up has expired. Begin it again.");
  }
  return given.secret;
}

/** Replaces all recovery codes. */
export async function renewRecoveryCodes(
  { store, clock, secrets }: SecondFactorDependencies,
  { agentId, email, workspaceId, actor }: OwnAccount,
): Promise<readonly string[]> {
  const codes = newRecoveryCodes();
  const subject = `recovery codes of ${email}`;
  await store.write(async (tx) => {
    const now = clock.now();
    if (!(await hasSecondFactor(tx, agentId))) throw new Problem("invalid_parameter", "The second factor is off.");
    await storeRecoveryCodes(tx, secrets, agentId, codes, now);
    await recordChange(tx, { workspaceId, by: actor, action: "sign_in_rotated", subject, now });
  });
  return codes;
}

/** Turns the second factor off. False: it was off. */
export async function removeSecondFactor(
  tx: Tx,
  { agentId, email, workspaceId, actor }: OwnAccount,
  now: number,
): Promise<boolean> {
  if (!(await hasSecondFactor(tx, agentId))) return false;
  await tx
    .updateTable("agents")
    .set({ second_factor: null, second_factor_step: null })
    .where("id", "=", agentId)
    .execute();
  await tx.deleteFrom("recovery_codes").where("agent_id", "=", agentId).execute();
  const subject = `second factor of ${email}`;
  await recordChange(tx, { workspaceId, by: actor, action: "sign_in_changed", subject, to: "off", now });
  return true;
}

export async function hasSecondFactor(db: Reader | Tx, agentId: string): Promise<boolean> {
  const row = await db.selectFrom("agents").select("second_factor").where("id", "=", agentId).executeTakeFirst();
  return row !== undefined && row.second_factor !== null;
}

/** Number of recovery codes that are left. */
export async function recoveryCodesLeft(db: Reader, agentId: string): Promise<number> {
  const row = await db
    .selectFrom("recovery_codes")
    .select((eb) => eb.fn.countAll<number>().as("left"))
    .where("agent_id", "=", agentId)
    .executeTakeFirstOrThrow();
  return row.left;
}

/** Uses up a code of the authenticator app, or a recovery code. False: it is wrong or was used. */
export async function acceptCode(
  tx: Tx,
  secrets: Secrets,
  agentId: string,
  given: string,
  now: number,
): Promise<boolean> {
  const code = given.toLowerCase().replaceAll(/[\s-]/gu, "");
  if (recoveryPattern.test(code)) {
    const { numDeletedRows } = await tx
      .deleteFrom("recovery_codes")
      .where("agent_id", "=", agentId)
      .where("hash", "=", recoveryHash(secrets, code))
      .executeTakeFirst();
    return numDeletedRows === 1n;
  }
  const agent = await tx
    .selectFrom("agents")
    .select(["second_factor", "second_factor_step"])
    .where("id", "=", agentId)
    .executeTakeFirst();
  if (agent === undefined || agent.second_factor === null) return false;
  const step = matchTotp(secrets.open(agent.second_factor), code, now, agent.second_factor_step);
  if (step === undefined) return false;
  // Two requests with the same code: the second one finds the step stored.
  const { numUpdatedRows } = await tx
    .updateTable("agents")
    .set({ second_factor_step: step })
    .where("id", "=", agentId)
    .where((eb) => eb.or([eb("second_factor_step", "is", null), eb("second_factor_step", "<", step)]))
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

const recoveryHash = (secrets: Secrets, code: string): string =>
  createHmac("sha256", secrets.key("recovery codes")).update(code).digest("hex");

/** Codes of 50 random bits, in two groups for reading. */
const newRecoveryCodes = (): readonly string[] =>
  Array.from({ length: recoveryCodes }, () => {
    const text = Array.from(randomBytes(10), (byte) => recoveryAlphabet[byte & 31]).join("");
    return `${text.slice(0, 5)}-${text.slice(5)}`;
  });

async function storeRecoveryCodes(
  tx: Tx,
  secrets: Secrets,
  agentId: string,
  codes: readonly string[],
  now: number,
): Promise<void> {
  await tx.deleteFrom("recovery_codes").where("agent_id", "=", agentId).execute();
  await tx
    .insertInto("recovery_codes")
    .values(
      codes.map((code) => ({
        agent_id: agentId,
        hash: recoveryHash(secrets, code.replace("-", "")),
        created_at: now,
      })),
    )
    .execute();
}
