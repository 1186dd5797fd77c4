import { type OptionalPackage, pathInApplication, requirePackage } from '../../../optional-package.js';

export type KafkaModule = typeof import('@platformatic/kafka');

const KAFKA: OptionalPackage = { name: '@platformatic/kafka', version: '1.35.0' };

/** @param what the feature that needs the package, the subject of the message @throws PackageMissingError */
export function requireKafka(what: string): void {
  requirePackage(what, KAFKA);
}

/** Loads the client. @throws PackageMissingError */
export async function loadKafka(): Promise<KafkaModule> {
  requireKafka('A sink to Kafka');
  const path = pathInApplication(KAFKA);
  return path === undefined ? import('@platformatic/kafka') : import(path);
}
