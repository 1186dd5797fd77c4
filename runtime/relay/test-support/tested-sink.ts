import type { RelayMessage, RelaySink } from '../relay-sink.js';

/** A message as a receiver holds it. */
export interface ReceivedMessage {
  readonly id: string;
  readonly body: string;
  /** The key, if the receiver stores one. Compared if given. */
  readonly key?: string | undefined;
  /** The CloudEvents attributes without the protocol's prefix and encoding. Compared if given. */
  readonly attributes?: Readonly<Record<string, string>> | undefined;
}

/** A sink and its receiver, which all cases share. */
export interface TestedSink {
  /** Creates a sink like `SinkDefinition.open`. Called in each case. */
  open(): RelaySink;
  /**
   * All messages of the receiver, including those of earlier cases. Messages of one key are in the order of arrival. A
   * repetition may be left out.
   */
  received(): readonly ReceivedMessage[] | Promise<readonly ReceivedMessage[]>;
  /** Changes a message so that the receiver cannot process it. Absent: the receiver accepts every message. */
  readonly unacceptable?: (message: RelayMessage) => RelayMessage;
  /** Makes the receiver unreachable, and reachable again with its messages. Absent: it is always reachable. */
  readonly outage?: Outage;
}

/** An outage of a receiver. */
export interface Outage {
  begin(): Promise<void>;
  end(): Promise<void>;
}
