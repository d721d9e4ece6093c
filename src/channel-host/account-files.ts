import type { Account, HostFiles } from "#channels/contract.ts";
import { prefetchedFileId } from "#conversations/attachments/prefetch.ts";
import type { Engine } from "#conversations/contract.ts";
import type { Reader } from "#database/contract.ts";
import { Problem } from "#domain/problem.ts";
import type { Metrics } from "#metrics/metrics.ts";

export interface AccountFileDependencies {
  readonly read: Reader;
  readonly engine: () => Engine;
  readonly metrics: Pick<Metrics, "fileRefused">;
  readonly bytesMax: number;
}

/** Files of messages that customers of one account are about to send. */
export function createAccountFiles(
  { read, engine, metrics, bytesMax }: AccountFileDependencies,
  account: Account,
): HostFiles {
  async function ownerOf(thread: string) {
    const row = await read
      .selectFrom("conversations")
      .select("id")
      .where("account_id", "=", account.id)
      .where("context_key", "=", thread)
      .executeTakeFirst();
    return {
      workspaceId: account.workspaceId,
      accountId: account.id,
      conversationId: row?.id ?? null,
      uploadedBy: thread,
    };
  }

  return {
    bytesMax,
    async upload(thread, { bytes: declaredBytes, ...file }, bytes, signal) {
      const upload = {
        ...(await ownerOf(thread)),
        ...file,
        ...(declaredBytes === undefined ? {} : { declaredBytes }),
      };
      try {
        return await engine().upload(upload, bytes, signal);
      } catch (error) {
        const code = error instanceof Problem ? error.code : undefined;
        if (code === "storage_full" || code === "rate_limit_day") metrics.fileRefused(code);
        throw error;
      }
    },
    prefetch: async (thread, files, options, signal) =>
      engine().prefetchFiles(
        files.map(({ key, ...file }) => ({ ...file, id: prefetchedFileId(account.id, thread, key) })),
        await ownerOf(thread),
        options,
        signal,
      ),
    drop: (thread, id) => engine().dropUpload({ workspaceId: account.workspaceId, uploadedBy: thread, id }),
  };
}
