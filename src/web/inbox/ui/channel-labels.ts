let labels: Readonly<Record<string, string>> = {};

/** Called once, with the labels that the adapters declare. */
export function setChannelLabels(received: Readonly<Record<string, string>>): void {
  labels = received;
}

export const channelLabel = (channel: string): string => labels[channel] ?? channel;
