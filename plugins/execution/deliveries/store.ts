import {
  assert,
  commandLine,
  type Collection,
  type CollectionSpec,
  type State,
  type Stream,
  type StreamSpec,
  type Tx,
} from '../../../core/plugin.js'
import {
  filesIn,
  namingIn,
  type AssetHolder,
  type AttachmentRef,
  type OutputPart,
} from '../../media/assets/contract.js'
import { carryOverRecords, type TargetKeeper } from './carry-over.js'

/** What every delivery record holds. Times in Unix ms. */
type DeliveryBase = {
  readonly delivery_id: string
  readonly session_id: string
  readonly thread_id: string | null
  readonly run_id?: string
  /** The agent of the session; absent in records of earlier versions. */
  readonly agent_id?: string
  readonly plugin: string
  readonly address: string
  /** Names plugin and address without telling the address; deliveries that share it leave one after another. */
  readonly target: string
  /** Sorts deliveries by the order in which they were enqueued. */
  readonly place: string
  /** Journal sequence of the output; absent in records of earlier versions. */
  readonly output?: number
  /** Number of the entry of the session's payloads. */
  readonly payload: number
  readonly content_size_bytes: number
  readonly parts_count: number
  /** Absent for none. */
  readonly artifacts_count?: number
  readonly created_at_ms: number
  /** Attempts whose intent is durable. */
  readonly attempts: number
  readonly last_error?: string
  readonly replayed_from_delivery_id?: string
  /** Of one that sends a dead letter again: when its payload was written; absent in records of earlier versions. */
  readonly payload_at_ms?: number
}
/** A delivery that has not arrived. `attempting` is set from the intent of an attempt to its outcome. */
export type OpenDelivery = DeliveryBase & {
  readonly status: 'pending' | 'retrying'
  readonly next_attempt_at_ms: number
  readonly attempting?: true
}
export type DeliveredDelivery = DeliveryBase & { readonly status: 'delivered'; readonly delivered_at_ms: number }
export type DeadDelivery = DeliveryBase & {
  readonly status: 'dead_lettered'
  readonly dead_lettered_at_ms: number
  readonly terminal_error: string
  readonly dead_letter_resolved_at_ms?: number
  readonly dead_letter_resolution_reason?: string
}
export type DeliveryRecord = OpenDelivery | DeliveredDelivery | DeadDelivery

/** The payload of a delivery. */
export const payloadOf = (
  { payloads }: Pick<DeliveryStore, 'payloads'>,
  { session_id, payload }: Pick<DeliveryRecord, 'session_id' | 'payload'>,
): Payload => {
  const entry = payloads.read(session_id, { after: payload - 1, limit: 1 })[0]?.entry
  assert(entry, 'a delivery has a payload')
  return entry
}

/** What is sent, once for all targets of an output. */
export type Payload = { readonly content: string; readonly parts: OutputPart[]; readonly artifacts?: AttachmentRef[] }

export const isOpen = (delivery: DeliveryRecord): delivery is OpenDelivery =>
  delivery.status === 'pending' || delivery.status === 'retrying'

const timeOf = (delivery: DeliveryRecord): number => {
  if (delivery.status === 'dead_lettered') return delivery.dead_lettered_at_ms
  return delivery.status === 'delivered' ? delivery.delivered_at_ms : delivery.next_attempt_at_ms
}
/** Zeros before a number of 13 digits, as times are until 2286. */
const zeros = '0'.repeat(7)
const padded = (time: number): string => (time >= 1e12 && time < 1e13 ? zeros + time : String(time).padStart(20, '0'))

/** Three indexes ask for the key of a record and of the one before it, one after the other. */
const rememberTwo = (make: (delivery: DeliveryRecord) => string): ((delivery: DeliveryRecord) => string) => {
  let latest: DeliveryRecord | undefined
  let before: DeliveryRecord | undefined
  let [latestKey, beforeKey] = ['', '']
  return (delivery) => {
    if (delivery === latest) return latestKey
    if (delivery === before) return beforeKey
    before = latest
    beforeKey = latestKey
    latest = delivery
    latestKey = make(delivery)
    return latestKey
  }
}

/** The order of lists (deliveries-3). */
export const keyOf = rememberTwo((delivery) => `${padded(timeOf(delivery))}:${delivery.delivery_id}`)

/** Groups that are split by status, so that a filter by both reads no record in vain. */
export const splitGroup = (value: string, status: DeliveryRecord['status']): string => `${status}:${value}`

/** The payload of a replay is as old as what it sends again. */
export const payloadTime = (delivery: DeliveryRecord): number => {
  const { payload_at_ms, replayed_from_delivery_id, created_at_ms } = delivery
  return payload_at_ms ?? (replayed_from_delivery_id === undefined ? created_at_ms : 0)
}

const deliveryCollection: CollectionSpec<DeliveryRecord> = {
  name: 'deliveries',
  version: 1,
  id: (delivery) => delivery.delivery_id,
  indexes: {
    status: { group: (delivery) => delivery.status, sort: keyOf },
    session: { group: (delivery) => splitGroup(delivery.session_id, delivery.status), sort: keyOf },
    plugin: { group: (delivery) => splitGroup(delivery.plugin, delivery.status), sort: keyOf },
    run: { group: (delivery) => delivery.run_id, sort: (delivery) => delivery.place },
    lane: { group: (delivery) => (isOpen(delivery) ? delivery.target : undefined), sort: (delivery) => delivery.place },
    replays: { group: (delivery) => delivery.replayed_from_delivery_id, sort: (delivery) => delivery.place },
    unresolved: {
      group: (delivery) =>
        delivery.status === 'dead_lettered' && delivery.dead_letter_resolved_at_ms === undefined
          ? 'unresolved'
          : undefined,
    },
  },
  settled: (delivery) =>
    delivery.status === 'delivered' ||
    (delivery.status === 'dead_lettered' && delivery.dead_letter_resolved_at_ms !== undefined),
  kept: {
    kind: 'deliveries',
    since: payloadTime,
    holds: {
      kind: 'runs',
      // Whoever gets it may ask for its run.
      since: (delivery) => (delivery.run_id === undefined ? undefined : payloadTime(delivery)),
      release: ({ status, delivery_id }) =>
        status === 'dead_lettered'
          ? `Send it again, or give it up: ${commandLine('deliveries replay', delivery_id)}, or ` +
            commandLine('deliveries resolve', delivery_id)
          : `See what it waits for: ${commandLine('deliveries get', delivery_id)}`,
    },
  },
  bounded: { dead_letters: 'dead_letter_max_age_ms in config/deliveries.toml' },
  references: (delivery) => [{ collection: 'sessions', id: delivery.session_id }],
}

const payloadStream: StreamSpec<Payload> = {
  name: 'delivery_payloads',
  version: 1,
  kept: { kind: 'deliveries' },
}

const roles = ['delivery_part', 'delivery_artifact'] as const
type Role = (typeof roles)[number]
/** That a delivery has a file. */
export type DeliveryFile = {
  readonly delivery_id: string
  readonly session_id: string
  readonly asset_id: string
  readonly roles: readonly Role[]
}
const withRole = (role: Role) => ({
  group: (file: DeliveryFile): string | undefined => (file.roles.includes(role) ? file.asset_id : undefined),
})

const deliveryFileCollection: CollectionSpec<DeliveryFile> = {
  name: 'delivery_files',
  version: 2,
  id: ({ delivery_id, asset_id }) => `${delivery_id} ${asset_id}`,
  indexes: { delivery_part: withRole('delivery_part'), delivery_artifact: withRole('delivery_artifact') },
  settled: () => true,
  kept: { kind: 'deliveries' },
  references: ({ delivery_id, asset_id }) => [
    { collection: 'deliveries', id: delivery_id },
    { collection: 'assets', id: asset_id },
  ],
}

export interface DeliveryStore {
  readonly state: State
  readonly deliveries: Collection<DeliveryRecord>
  readonly payloads: Stream<Payload>
  readonly files: Collection<DeliveryFile>
}

export const declareStore = (state: State): DeliveryStore => ({
  state,
  deliveries: state.collection(deliveryCollection),
  payloads: state.stream(payloadStream),
  files: state.collection(deliveryFileCollection),
})

const placeDigits = 16
const firstPlace = (now: number): string => `${String(now).padStart(placeDigits, '0')}:000000000001`
const placeBehind = (place: string): string =>
  `${place.slice(0, placeDigits)}:${String(Number(place.slice(placeDigits + 1)) + 1).padStart(12, '0')}`

/** The last place in a group, by index; empty if there is none. */
export const lastPlace = ({ deliveries }: DeliveryStore, index: string, group: string | undefined): string =>
  group === undefined ? '' : (deliveries.list({ index, group, limit: 1, order: 'desc' })[0]?.place ?? '')

/** A place behind these, whatever the clock says: it goes on from what is stored. */
export const nextPlace = (now: number, ...behind: readonly string[]): string => {
  const last = behind.reduce((most, place) => (place > most ? place : most), '')
  const place = firstPlace(now)
  return place > last ? place : placeBehind(last)
}

/** Puts addresses of older deliveries as they may be stored. */
export const deliveryKeeper = ({ state, deliveries }: DeliveryStore): TargetKeeper => ({
  id: 'deliveries',
  carryOver: (keep, signal) =>
    carryOverRecords({ state, collection: deliveries, index: 'status', signal }, (delivery) => {
      const { plugin, address } = delivery
      const kept = keep({ plugin, address })
      return kept.address === address ? undefined : { ...delivery, address: kept.address }
    }),
})

interface Sent {
  readonly parts?: readonly OutputPart[]
  readonly artifacts?: readonly AttachmentRef[]
}

/** The caller names them too in this commit, so that they are there. */
export const nameFiles = (
  { tx, files }: { readonly tx: Tx; readonly files: Collection<DeliveryFile> },
  { delivery_id, session_id }: DeliveryRecord,
  { parts = [], artifacts = [] }: Sent,
): void => {
  const shown = new Set(filesIn(parts).map(({ id }) => id))
  const along = new Set(artifacts.map(({ id }) => id))
  for (const asset_id of new Set([...shown, ...along])) {
    const filed = { delivery_part: shown, delivery_artifact: along }
    tx.insert(files, { delivery_id, session_id, asset_id, roles: roles.filter((role) => filed[role].has(asset_id)) })
  }
}

export const deliveryHolder = ({ deliveries, files }: DeliveryStore): AssetHolder => ({
  domain: 'deliveries',
  namings: roles.map((role) =>
    namingIn({
      collection: files,
      index: role,
      owners: deliveries,
      reference: ({ delivery_id: owner_id, session_id: parent_id }) => {
        const detail_id = deliveries.find(owner_id)?.status
        return { owner_id, role, parent_id, ...(detail_id !== undefined && { detail_id }) }
      },
    }),
  ),
})
