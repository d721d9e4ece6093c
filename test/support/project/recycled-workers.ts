import type { PoolOptions, PoolRunnerInitializer, PoolTask } from "vitest/node";
import { ForksPoolWorker } from "vitest/node";

/** A worker keeps what each file leaves behind: after many files it needs gigabytes. */
const filesOfWorkerMax = 40;

/** Ends each worker after some files, and starts another. For runs without isolation, where a worker is used again. */
export const recycledWorkers = (): PoolRunnerInitializer => ({
  name: "recycled-forks",
  createPoolWorker: (options: PoolOptions) => new RecycledWorker(options),
});

class RecycledWorker extends ForksPoolWorker {
  override name = "recycled-forks";
  #files = 0;

  override send(message: Parameters<ForksPoolWorker["send"]>[0]): void {
    if (message.type === "run") this.#files += message.context.files.length;
    super.send(message);
  }

  canReuse(task: PoolTask): boolean {
    return task.worker === this.name && this.#files < filesOfWorkerMax;
  }
}
