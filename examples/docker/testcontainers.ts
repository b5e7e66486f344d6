import { PaymentClient } from 'merchant-payments';
import { GenericContainer, TestContainers, Wait } from 'testcontainers';

/** Starts the mock in a container, whose callbacks reach a port of this machine. */
export async function startPaymentService(callbackPort: number) {
  await TestContainers.exposeHostPorts(callbackPort);
  // The folder with the Dockerfile above.
  const image = await GenericContainer.fromDockerfile('examples/docker').build();
  const container = await image
    .withExposedPorts(4242)
    .withCommand([
      '--callback-url',
      `http://host.testcontainers.internal:${callbackPort}/callbacks/payments`,
    ])
    .withWaitStrategy(Wait.forHealthCheck())
    .start();
  const baseUrl = `http://127.0.0.1:${container.getMappedPort(4242)}`;
  const client = new PaymentClient({
    baseUrl,
    apiKey: 'mock_api_key',
    apiSecret: 'mock_api_secret',
  });
  return { container, baseUrl, client, signingSecret: 'mock_signing_secret' };
}
