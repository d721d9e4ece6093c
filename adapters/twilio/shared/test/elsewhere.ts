import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A server that must not receive requests, and addresses outside Twilio's storage. */
export async function openElsewhere() {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.end("secrets");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    asked,
    locations: [
      `http://127.0.0.1:${port}/x`,
      `http://localhost:${port}/x`,
      `//127.0.0.1:${port}/x`,
      "http://169.254.169.254/latest/meta-data/",
      "http://media.twiliocdn.com/x",
      "https://media.twiliocdn.com:8443/x",
      "https://user@media.twiliocdn.com/x",
      "https://twiliocdn.com.evil.example/x",
      "https://eviltwiliocdn.com/x",
      "https://s3.amazonaws.com.evil.example/x",
      "https://evils3.amazonaws.com/x",
      "https://ec2-1-2-3-4.compute-1.amazonaws.com/x",
      "https://[::1]/x",
      "file:///etc/passwd",
      "data:text/plain,x",
    ],
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
