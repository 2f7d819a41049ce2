/** The falls themselves: archived first where that is asked for, then in one commit of the state, then told. */
import type { Clock } from '../base/clock.js'
import { Problem } from '../base/errors.js'
import type { Ids } from '../base/ids.js'
import { noProgress, type Progress } from '../base/text/progress.js'
import type { Log } from '../base/text/log.js'
import type { Retention } from '../state/contract.js'
import type { Disk } from '../state/disk/disk.js'
import { codeOf } from '../state/errors.js'
import { findArchiveFolder } from './archive/folder.js'
import { writeArchive, type Archived } from './archive/write.js'
import { dueOf, type Due } from './due.js'
import { errors } from './archive/errors.js'
import type { Policy } from './policy.js'
import type { Fallen, RetentionDocument } from './retention-document.js'
import { sayFalling } from './words.js'

export interface FallParts {
  readonly retention: Retention
  readonly policy: Policy
  readonly root: string
  /** Id of the state root. */
  readonly rootId: string
  readonly disk: Disk
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly document: RetentionDocument
  readonly progress?: Progress
  readonly signal?: AbortSignal
}

/** Falls that are kept for whoever looks later. */
const mostKept = 32

/** A folder that cannot be written to is the operator's to mend; what the root itself says is passed on. */
const notWritten = (kind: string, path: string, cause: unknown): unknown => {
  const reason = codeOf(cause)
  if (cause instanceof Problem || reason === undefined) return cause
  return errors.archive_not_written({ details: { kind, path, reason }, cause })
}

const archive = async (parts: FallParts, { kind, upto, from, to, bytes, fall }: Due): Promise<Archived | undefined> => {
  const { retention, policy, rootId, disk, clock, ids, progress = noProgress, signal } = parts
  if (policy.archiveDir === undefined) return undefined
  const found = findArchiveFolder(parts, policy.archiveDir)
  if (!found.ok) throw errors.archive_not_written({ details: { kind, path: policy.archiveDir, reason: found.reason } })
  const folder = found.path
  const header = {
    v: 1,
    k: 'archive',
    of: kind,
    salt: ids.random(4),
    root: rootId,
    upto,
    from,
    to,
    archived_at_ms: clock.now(),
  } as const
  progress.begin(`archive ${kind}`, bytes)
  return retention
    .contents(fall, (lines) => writeArchive({ disk, folder, progress, signal }, header, lines))
    .catch((error: unknown) => {
      throw notWritten(kind, folder, error)
    })
}

/** Lets one kind fall; nothing of it fell where this rejects, and no archive says that it did. */
const letFall = async (parts: FallParts, due: Due): Promise<Fallen> => {
  const { retention, document, clock, log, signal } = parts
  signal?.throwIfAborted()
  const archived = await archive(parts, due)
  const {
    fall: _,
    upto: __,
    held: ___,
    beside,
    ...facts
  } = dueOf(await retention.fall(due.fall), due.cause, due.beside)
  const fallen: Fallen = {
    at_ms: clock.now(),
    ...facts,
    ...(beside > 0 && { behind_bytes: beside }),
    ...(archived !== undefined && { archive: archived.path }),
  }
  log.info(`fell: ${sayFalling({ ...facts, beside, held: due.held })}`, {
    ...(archived !== undefined && { archive: archived.path, archive_bytes: archived.bytes }),
  })
  await document.change((value) => ({ ...value, fallen: [...value.fallen, fallen].slice(-mostKept) }))
  return fallen
}

/** A kind of which nothing fell, and why. */
export interface Failed {
  readonly kind: string
  readonly error: unknown
}
export interface Fell {
  readonly fallen: readonly Fallen[]
  readonly failed: readonly Failed[]
  /** Kinds that were to fall and stay because the signal aborted. */
  readonly left: readonly string[]
}

/** One kind after the other: what one refuses holds back no other. */
export const letAllFall = async (parts: FallParts, falls: readonly Due[]): Promise<Fell> => {
  const { signal } = parts
  const fallen: Fallen[] = []
  const failed: Failed[] = []
  const left: string[] = []
  for (const due of falls)
    await letFall(parts, due).then(
      (one) => fallen.push(one),
      (error: unknown) => {
        if (signal?.aborted === true && error === signal.reason) left.push(due.kind)
        else failed.push({ kind: due.kind, error })
      },
    )
  return { fallen, failed, left }
}
