/** What other plugins use: targets made into handles, outputs made into deliveries. */
import { hash } from 'node:crypto'
import { createCache, type Tx } from '../../../core/plugin.js'
import { filesIn } from '../../media/assets/contract.js'
import type {
  OpenOutput,
  Outbox,
  OutboxItem,
  ReplyHandle,
  ReplyPlugin,
  ReplyTargetRequest,
  RunDeliveries,
} from './contract.js'
import { deliveryErrors } from './errors.js'
import { mostAddress } from './reply-targets.js'
import {
  isOpen,
  lastPlace,
  nameFiles,
  nextPlace,
  payloadOf,
  type DeliveryRecord,
  type DeliveryStore,
  type OpenDelivery,
  type Payload,
} from './store.js'
import { viewDelivery } from './views.js'

export interface OutboxParts {
  readonly store: DeliveryStore
  readonly replies: () => readonly ReplyPlugin[]
  /** Called when a lane has something new, and that is durable. */
  readonly wake: (target: string) => void
}

const digestOf = (...parts: readonly (string | number)[]): string => hash('sha256', JSON.stringify(parts))

/** Names of targets that were used last. */
const targets = createCache<string>(1024)

/** `<plugin>:sha256:<16 hex digits>`: tells targets apart and tells nothing of them. */
const targetOf = ({ plugin, address }: ReplyHandle): string => {
  const key = `${plugin} ${address}`
  const target = targets.get(key) ?? `${plugin}:sha256:${digestOf(plugin, address).slice(0, 16)}`
  targets.set(key, target)
  return target
}

/** Deliveries in the view of a run. */
const mostOfRun = 100

export const createOutbox = (parts: OutboxParts): Outbox => ({
  normalize: (targets, path) => normalize(parts.replies(), targets, path),
  keep: (target) => keepTarget(parts.replies(), target),
  enqueue: (tx, item) => enqueue(parts, tx, item),
  findOpen: (delivery_id) => findOpen(parts.store, delivery_id),
  isOpen: (delivery_id) => {
    const delivery = parts.store.deliveries.find(delivery_id)
    return delivery !== undefined && isOpen(delivery)
  },
  ofRun: (run_id) => ofRun(parts.store, run_id),
})

const findOpen = (store: DeliveryStore, delivery_id: string): OpenOutput | undefined => {
  const delivery = store.deliveries.find(delivery_id)
  if (delivery === undefined || !isOpen(delivery)) return undefined
  const { parts, artifacts = [] } = payloadOf(store, delivery)
  const files = new Map([...filesIn(parts), ...artifacts].map((file) => [file.id, file]))
  return { plugin: delivery.plugin, address: delivery.address, files: [...files.values()] }
}

/** The records are those of now; what is shown of them is made when it is asked for. */
const ofRun = ({ deliveries }: DeliveryStore, run_id: string): RunDeliveries => {
  const all = deliveries.list({ index: 'run', group: run_id, limit: deliveries.count('run', run_id) })
  return {
    get views() {
      return all.slice(0, mostOfRun).map(viewDelivery)
    },
    get targets() {
      return firstTargets(all)
    },
  }
}

const firstTargets = (all: readonly DeliveryRecord[]): ReadonlyMap<number, ReplyHandle> => {
  const first = new Map<number, ReplyHandle>()
  for (const { output, plugin, address } of all)
    if (output !== undefined && !first.has(output)) first.set(output, { plugin, address })
  return first
}

const enqueue = ({ store, wake }: OutboxParts, tx: Tx, item: OutboxItem): void => {
  if (item.targets.length === 0) return
  let payload: number | undefined
  let last = lastPlace(store, 'run', item.run_id)
  const content_size_bytes = Buffer.byteLength(item.content)
  for (const handle of item.targets) {
    // Without the agent a fresh root with old session names would repeat ids that receivers have seen.
    const digest = digestOf(item.agent_id, item.session_id, item.output, handle.plugin, handle.address)
    const delivery_id = `delivery_${digest.slice(0, 32)}`
    if (store.deliveries.has(delivery_id)) continue
    payload ??= tx.append(store.payloads, item.session_id, payloadIn(item))
    const target = targetOf(handle)
    const place = nextPlace(tx.now, last, lastPlace(store, 'lane', target))
    if (item.run_id !== undefined) last = place
    const delivery: OpenDelivery = {
      delivery_id,
      session_id: item.session_id,
      thread_id: item.thread_id ?? null,
      agent_id: item.agent_id,
      ...(item.run_id !== undefined && { run_id: item.run_id }),
      plugin: handle.plugin,
      address: handle.address,
      target,
      place,
      output: item.output,
      payload,
      content_size_bytes,
      parts_count: item.parts?.length ?? 0,
      ...(item.artifacts !== undefined && { artifacts_count: item.artifacts.length }),
      created_at_ms: tx.now,
      attempts: 0,
      status: 'pending',
      next_attempt_at_ms: tx.now,
    }
    tx.insert(store.deliveries, delivery)
    nameFiles({ tx, files: store.files }, delivery, item)
    tx.after(() => wake(delivery.target))
  }
}

const payloadIn = ({ content, parts = [], artifacts }: OutboxItem): Payload => ({
  content,
  parts: [...parts],
  ...(artifacts !== undefined && { artifacts: [...artifacts] }),
})

type Requested = ReplyTargetRequest | ReplyHandle

const normalize = (replies: readonly ReplyPlugin[], targets: readonly Requested[], path: string): ReplyHandle[] => {
  const handles = targets.map((target, at) => handleOf(replies, target, `${path}.${at}`))
  return handles.filter(
    ({ plugin, address }, at) =>
      handles.findIndex((other) => other.plugin === plugin && other.address === address) === at,
  )
}

const handleOf = (replies: readonly ReplyPlugin[], target: Requested, path: string): ReplyHandle => {
  if (!('type' in target) || target.type === 'raw')
    return checked(
      replies.find(({ plugin }) => plugin === target.plugin),
      target.address,
      { path, field: 'address', unknown: 'plugin' },
    )
  for (const reply of replies) {
    const address = reply.address(target)
    if (address !== undefined) return checked(reply, address, { path, field: fieldOf(reply, target), unknown: 'type' })
  }
  throw refusal(`${path}.type`, 'must be served by a plugin that takes replies')
}

/** The member that a refusal of the whole target is about: of one with headers they are, if it passes without. */
const fieldOf = (reply: ReplyPlugin, target: ReplyTargetRequest): string => {
  if (target.type !== 'http') return 'connector'
  const bare = target.headers === undefined ? undefined : reply.address({ type: 'http', url: target.url })
  return bare !== undefined && reply.refuse(bare) === undefined ? 'headers' : 'url'
}

interface Asked {
  readonly path: string
  readonly field: string
  readonly unknown: string
}

const checked = (reply: ReplyPlugin | undefined, address: string, { path, field, unknown }: Asked): ReplyHandle => {
  if (reply === undefined) throw refusal(`${path}.${unknown}`, 'must be a plugin that takes replies')
  const reason = reply.refuse(address)
  if (reason !== undefined) throw refusal(`${path}.${field}`, reason)
  const kept = reply.keep?.(address) ?? address
  if (kept.length > mostAddress)
    throw refusal(`${path}.${field}`, `must be shorter: with its headers encrypted it is ${kept.length} characters`)
  return { plugin: reply.plugin, address: kept }
}

/** What nobody serves, or would refuse, is kept as it is. */
export const keepTarget = <T extends Requested>(replies: readonly ReplyPlugin[], target: T): T | ReplyHandle => {
  for (const reply of replies) {
    const address = addressIn(reply, target)
    const kept = address === undefined || reply.refuse(address) !== undefined ? undefined : reply.keep?.(address)
    if (kept !== undefined && kept !== address) return { plugin: reply.plugin, address: kept }
  }
  return target
}

const addressIn = (reply: ReplyPlugin, target: Requested): string | undefined => {
  if ('type' in target && target.type !== 'raw') return reply.address(target)
  return target.plugin === reply.plugin ? target.address : undefined
}

const refusal = (path: string, rule: string) => deliveryErrors.reply_target_invalid({ errors: [{ path, rule }] })
