/** The first message of the desk thread was deleted, so the thread cannot be used. */
export class ThreadGone extends Error {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = "ThreadGone";
  }
}
