/** Keeps evidence, in order and behind the runs: a run never waits for it, and never fails by it. */
import {
  inTurns,
  nonceBytes,
  sealText,
  type Clock,
  type Ids,
  type Log,
  type Portions,
  thrownText,
} from '../../../core/plugin.js'
import type { Observed, RunObserver } from '../engine/contract.js'
import type { DebugConfig } from './config.js'
import type { DebugArtifactView, DebugLevel } from './contract.js'
import { cutText, evidenceText, sizeOf, type Known } from './evidence.js'
import type { KeySetup } from './key.js'
import type { DebugRecord, DebugStore } from './store.js'

export interface CaptureParts {
  readonly store: DebugStore
  readonly config: DebugConfig
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly level: () => DebugLevel
  readonly key: () => KeySetup
  readonly known: Known
  /** Makes room for so many bytes in the whole store; false if there is none. */
  readonly room: (bytes: number) => Promise<boolean>
}
export interface Capture extends RunObserver {
  /** Resolves when everything that was seen so far is on disk, or was given up. */
  settled(): Promise<void>
  /** Like `settled`, but what is not done by then is given up. Nothing may be seen afterwards. */
  end(ms: number): Promise<void>
}

/** Evidence that waits to be cleaned and written, in bytes; beyond it, it is dropped. */
const mostWaiting = 64 * 1024 * 1024

interface Piece {
  readonly level: DebugLevel
  readonly kind: Observed['kind']
  readonly run_id: string
  readonly session_id: string
  readonly text: Uint8Array
}

/** A text that is made in portions, or undefined if its time is over before. */
function* inTime(work: Portions<string> | undefined, isLate: () => boolean): Portions<string | undefined> {
  while (!isLate()) {
    const step = work?.next()
    if (step === undefined) return ''
    if (step.done === true) return step.value
    yield
  }
  return undefined
}

export const createCapture = (parts: CaptureParts): Capture => {
  let queue: Promise<void> = Promise.resolve()
  let waiting = 0
  let until = Infinity
  let givenUp = 0
  const isLate = (): boolean => parts.clock.elapsed() >= until
  const observe = (observed: Observed): void => {
    const { kind, run_id, session_id } = observed
    const level = parts.level()
    const dropped = waiting > mostWaiting
    const bytes = dropped ? 0 : sizeOf(observed)
    waiting += bytes
    const work = dropped ? undefined : evidenceText(level, observed, parts.known)
    queue = queue
      .then(async () => {
        const text = await inTurns(inTime(work, isLate))
        if (text === undefined) givenUp += 1
        else await keep(parts, { level, kind, run_id, session_id, text: Buffer.from(text) })
      })
      .catch((error: unknown) =>
        parts.log.warn('evidence of a run could not be kept', { run_id, error: thrownText(error) }),
      )
      .finally(() => {
        waiting -= bytes
      })
  }
  return {
    name: 'debug',
    get active() {
      return parts.level() !== 'off'
    },
    observe,
    settled: () => queue,
    end: async (ms) => {
      until = parts.clock.elapsed() + ms
      await queue
      if (givenUp > 0) parts.log.warn('evidence that still waited at the stop was given up', { pieces: givenUp })
    },
  }
}

const blank = ({ run_id, session_id, level }: Piece): DebugRecord => ({
  run_id,
  session_id,
  level,
  updated_at_ms: 0,
  bytes: 0,
  made: 0,
  dropped: 0,
  artifacts: [],
})

/** The evidence of the run was dropped after it had ended. */
const isLate = ({ dropped }: DebugStore, run_id: string): boolean => dropped.get(run_id) === true

const keep = async (parts: CaptureParts, piece: Piece): Promise<void> => {
  const { store, config } = parts
  if (isLate(store, piece.run_id)) return
  const record = store.runs.find(piece.run_id) ?? blank(piece)
  const made = record.made + 1
  const artifact_id = `${String(made).padStart(4, '0')}-${piece.kind}`
  const packed = pack(parts, piece, artifact_id)
  const full =
    piece.text.length === 0 ||
    record.artifacts.length >= config.max_artifacts_per_run ||
    record.bytes + packed.bytes.length > config.max_run_bytes
  if (full || !(await parts.room(packed.bytes.length)))
    return void (await put(store, piece.run_id, (tx, before = blank(piece)) => ({
      ...before,
      made,
      dropped: before.dropped + 1,
      updated_at_ms: tx.now,
    })))
  const { sha256, bytes } = await store.blobs.put(packed.bytes)
  const kept = await put(store, piece.run_id, (tx, before = blank(piece)) => ({
    ...before,
    made,
    level: piece.level,
    updated_at_ms: tx.now,
    bytes: before.bytes + bytes,
    artifacts: [
      ...before.artifacts,
      { artifact_id, format: 'json', updated_at_ms: tx.now, bytes, sha256, ...packed.facts },
    ],
  }))
  if (kept) store.held.add(bytes)
}

const put = async (
  store: DebugStore,
  run_id: string,
  change: (tx: { readonly now: number }, before: DebugRecord | undefined) => DebugRecord,
): Promise<boolean> =>
  store.state.commit((tx) => {
    if (isLate(store, run_id)) return false
    tx.put(store.runs, change(tx, store.runs.find(run_id)))
    return true
  })

interface Packed {
  readonly bytes: Uint8Array
  readonly facts: Pick<
    DebugArtifactView,
    'plaintext_bytes' | 'truncated' | 'original_bytes' | 'encrypted' | 'encryption_key_id'
  >
}

/** The text as it is written: cut, and encrypted if there is a key. */
const pack = ({ config, key, ids }: CaptureParts, { text, run_id }: Piece, artifact_id: string): Packed => {
  const plain = cutText(text, config.max_artifact_bytes)
  const setup = key()
  const facts = {
    plaintext_bytes: plain.length,
    truncated: plain.length < text.length,
    ...(plain.length < text.length && { original_bytes: text.length }),
  }
  if (setup.type !== 'key') return { bytes: plain, facts: { ...facts, encrypted: false } }
  const bytes = sealText(plain, { key: setup.key, nonce: ids.random(nonceBytes), about: `${run_id}/${artifact_id}` })
  return { bytes, facts: { ...facts, encrypted: true, encryption_key_id: setup.id } }
}
