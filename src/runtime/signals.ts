/** Signals between parts of the program, in one process or several. Hints only: the truth is in the database. */
export interface Fanout {
  publish(topic: string, message: string): void;
  subscribe(topic: string, listener: (message: string) => void): () => void;
  close(): Promise<void>;
}

/** Tells the workers, of whichever process, that these lanes have rows, the earliest due at `dueAt`. */
export interface Wake {
  notify(lanes: readonly string[], dueAt: number): void;
}
