import type { SignInMethod } from "#database/schema/sign-in.ts";
import type { Actor } from "#domain/conversation/message.ts";
import { recordChange } from "#admin/audit.ts";
import type { Reader, Tx } from "#database/contract.ts";

export interface SignInSettings {
  readonly secondFactorRequired: boolean;
}

export async function readSignInSettings(db: Reader | Tx, workspaceId: string): Promise<SignInSettings> {
  const row = await db
    .selectFrom("sign_in_settings")
    .select("second_factor_required")
    .where("workspace_id", "=", workspaceId)
    .executeTakeFirst();
  return { secondFactorRequired: row?.second_factor_required === 1 };
}

/** Requires a second factor or not, with an audit entry if that is a change. */
export async function requireSecondFactor(
  tx: Tx,
  { workspaceId, by, now }: { readonly workspaceId: string; readonly by: Actor; readonly now: number },
  isRequired: boolean,
): Promise<void> {
  const { secondFactorRequired } = await readSignInSettings(tx, workspaceId);
  if (secondFactorRequired === isRequired) return;
  await storeSignInSettings(tx, workspaceId, { secondFactorRequired: isRequired });
  const to = isRequired ? "required" : "optional";
  await recordChange(tx, { workspaceId, by, action: "sign_in_changed", subject: "second factor", to, now });
}

export async function storeSignInSettings(tx: Tx, workspaceId: string, given: SignInSettings): Promise<void> {
  await tx.deleteFrom("sign_in_settings").where("workspace_id", "=", workspaceId).execute();
  await tx
    .insertInto("sign_in_settings")
    .values({ workspace_id: workspaceId, second_factor_required: given.secondFactorRequired ? 1 : 0 })
    .execute();
}

/** Whether an agent must set up a second factor first. Programs have none, and providers ask for their own. */
export async function lacksSecondFactor(
  db: Reader,
  caller: {
    readonly agentId: string;
    readonly workspaceId: string;
    readonly tokenId: string | null;
    readonly signedInBy: SignInMethod | null;
  },
): Promise<boolean> {
  const { agentId, workspaceId, tokenId, signedInBy } = caller;
  if (tokenId !== null || signedInBy === "provider") return false;
  const lacking = await db
    .selectFrom("sign_in_settings")
    .innerJoin("agents", "agents.workspace_id", "sign_in_settings.workspace_id")
    .select("agents.id")
    .where("sign_in_settings.workspace_id", "=", workspaceId)
    .where("sign_in_settings.second_factor_required", "=", 1)
    .where("agents.id", "=", agentId)
    .where("agents.second_factor", "is", null)
    .executeTakeFirst();
  return lacking !== undefined;
}
