const heartbeatMs = 25_000;
const silenceMaxMs = 10_000;

/** Detects connections that are lost without a close, such as after a change of the network. */
export interface Watchdog {
  /** Starts regular pings. */
  start(): void;
  stop(): void;
  /** Pings now. */
  check(): void;
  /** The server must be heard from within the time limit. */
  expectAnswer(): void;
  heard(): void;
}

export function createWatchdog(ping: () => void, onSilence: () => void): Watchdog {
  let pingTimer: number | undefined;
  let silenceTimer: number | undefined;

  const heard = (): void => clearTimeout(silenceTimer);
  const expectAnswer = (): void => {
    heard();
    silenceTimer = window.setTimeout(onSilence, silenceMaxMs);
  };
  const check = (): void => {
    ping();
    expectAnswer();
  };

  return {
    start() {
      clearInterval(pingTimer);
      pingTimer = window.setInterval(check, heartbeatMs);
    },
    stop() {
      clearInterval(pingTimer);
      heard();
    },
    check,
    expectAnswer,
    heard,
  };
}
