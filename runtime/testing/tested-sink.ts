import type { RelayMessage, RelaySink } from '../relay/relay-sink.js';

/** A message as a receiver holds it. */
export interface ReceivedMessage {
  readonly id: string;
  readonly body: string;
  /** Checked if given: the key, where the receiver keeps one. */
  readonly key?: string | undefined;
  /** Checked if given: the attributes of the CloudEvent, without the prefix and encoding of the protocol. */
  readonly attributes?: Readonly<Record<string, string>> | undefined;
}

/** A sink and its receiver, which all cases share. */
export interface TestedSink {
  /** Makes a sink, as `SinkDefinition.open` does. Called in each case. */
  open(): RelaySink;
  /**
   * Everything that the receiver holds, that of earlier cases included. Messages of one key are in the order in which
   * they arrived. A repetition may be left out.
   */
  received(): readonly ReceivedMessage[] | Promise<readonly ReceivedMessage[]>;
  /** Changes a message so that the receiver cannot take it. Absent: the receiver takes everything. */
  readonly unacceptable?: (message: RelayMessage) => RelayMessage;
  /** Puts the receiver out of reach, and back with what it holds. Absent: it cannot be out of reach. */
  readonly outage?: Outage;
}

/** A time in which a receiver is out of reach. */
export interface Outage {
  begin(): Promise<void>;
  end(): Promise<void>;
}
