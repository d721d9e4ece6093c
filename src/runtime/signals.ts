/** Signals within a process and between processes. They are hints: the database has the state. */
export interface Fanout {
  publish(topic: string, message: string): void;
  subscribe(topic: string, listener: (message: string) => void): () => void;
  close(): Promise<void>;
}

/** Notifies the workers of all processes that these lanes have rows, the earliest due at `dueAt`. */
export interface Wake {
  notify(lanes: readonly string[], dueAt: number): void;
}
