/**
 * Wrong stores, each one careless thing away from the right one: a piece of
 * the compiled text is replaced (it must be there exactly once), or the disk
 * is told to forget a call. The suites must catch every one of them.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fault } from '../../core/base/assert.js'
import { churn } from './churn.js'
import { explore, type Exploration, type Tally } from './explore.js'
import { loadEngine, type Engine } from './life.js'
import type { FaultKind, Operation } from './simulated-disk.js'
import { acceptsForeignLine, cutsAcknowledged } from './splice.js'
import { partOf } from '../support/volume.js'

interface Patch {
  readonly file: string
  readonly from: string
  readonly to: string
}
export interface Mutant {
  readonly name: string
  readonly patch?: Patch
  /** Calls that the disk forgets. */
  readonly forget?: (operation: Operation) => boolean
  /** Which suite is to catch it; the crash suite when absent. */
  readonly by?: 'errors' | 'splice' | 'cut' | 'churn'
}

export const patch = (file: string, from: string, to: string): Patch => ({ file: `core/state/${file}.js`, from, to })
const syncOf =
  (part: string) =>
  ({ call, path }: Operation): boolean =>
    call === 'sync' && path.includes(part)
const syncOfFolderIn =
  (part: string) =>
  ({ call, path }: Operation): boolean =>
    call === 'syncFolder' && path.includes(part)

export const mutants: readonly Mutant[] = [
  {
    name: 'the segment is not synced before a commit is acknowledged',
    patch: patch('log/segment-file', 'await file.sync();\n        length += bytes.length;', 'length += bytes.length;'),
  },
  {
    name: 'a commit is acknowledged while the sync still runs',
    patch: patch(
      'log/segment-file',
      'await file.sync();\n        length += bytes.length;',
      'void file.sync();\n        length += bytes.length;',
    ),
  },
  {
    name: 'the folder of a new segment is not synced',
    patch: patch('log/segment-file', 'await disk.syncFolder(folder);', ''),
  },
  {
    name: 'the header of a new segment is not synced',
    patch: patch(
      'log/segment-file',
      'await file.write(line, 0);\n        await file.sync();',
      'await file.write(line, 0);',
    ),
  },
  { name: 'pages of records and streams are not synced', forget: syncOf('/page-') },
  { name: 'tables are not synced', patch: patch('tables/table-writer', 'await file.sync();', '') },
  {
    name: 'a settled record that is written again counts twice',
    patch: patch(
      'memory/collection',
      'this.#shadow(id, before.record);\n    }\n    #take',
      'void 0;\n    }\n    #take',
    ),
  },
  {
    name: 'the folder of pages is not synced',
    forget: syncOfFolderIn('/data/'),
  },
  {
    name: 'the folder of streams is not synced',
    forget: syncOfFolderIn('/streams/'),
  },
  { name: 'the manifest is not synced before its rename', forget: syncOf('/manifest.json.') },
  {
    name: 'the folder of the manifest is not synced',
    forget: ({ call, path }) => call === 'syncFolder' && path === '/r',
  },
  { name: 'tombstones are not synced', patch: patch('pages/tombstones', 'await file.sync();', '') },
  {
    name: 'a checkpoint drops tombstones',
    patch: patch('store/checkpoint-pass', 'if (dirty.tombstones.size > 0)', 'if (dirty.tombstones.size < 0)'),
  },
  {
    name: 'a removal of which nothing stays is not written on a page',
    patch: patch(
      'pages/record-changes',
      'const location = await page.add(removalText(id), noWeight);\n        ' +
        'this.#rows.forget(id, location, { before, dead: this.#deadBehind(row) });',
      'if (before) this.#rows.remove(id, before);',
    ),
    by: 'churn',
  },
  {
    name: 'a removal is dropped while an older line of its id still stands',
    patch: patch('pages/record-changes', 'if (dead > 0 || !isRemovedRow(row))', 'if (dead > 1 || !isRemovedRow(row))'),
    by: 'churn',
  },
  {
    name: 'a removal goes with its page while an older line of its id still stands on another',
    patch: patch('pages/record-changes', 'await this.#copyRemoval(page, id);', 'this.#rows.drop(id);'),
    by: 'churn',
  },
  {
    name: 'older lines are not counted when tables are made again',
    patch: patch('pages/record-pages', 'dead: deadOf(known) + 1', 'dead: deadOf(known)'),
    by: 'churn',
  },
  {
    name: 'an id that comes again stays removed',
    patch: patch('memory/collection', 'const gone = this.#removals.comeBack(id);', 'const gone = undefined;'),
    by: 'churn',
  },
  {
    name: 'old segments are unlinked before the manifest forgets them',
    patch: patch(
      'store/checkpoint',
      'await pass.write();',
      'await pass.write(); ' +
        'const { disk, paths } = this.#options; ' +
        "for (const old of disk.list(paths.log).slice(0, -1)) await disk.unlink(paths.log + '/' + old);",
    ),
  },
  {
    name: 'the tables that became one are removed before the manifest names it',
    patch: patch(
      'store/checkpoint',
      'await pass.write();',
      'await pass.write(); const { disk, paths } = this.#options; const named = namedFiles(paths, pass.manifestBehind(manifest.current)); ' +
        'for (const path of pageStores.tableFiles()) if (!named.has(path)) await disk.unlink(path);',
    ),
  },
  { name: 'a line does not name its batch', patch: patch('log/commit-log', '"b":${first}', '"b":${next}') },
  {
    name: 'bytes of a torn tail count',
    patch: patch(
      'store/recovery',
      'replay.sound.map(({ segment, length }) => ({ no: segment.no, first: segment.first, length }))',
      'replay.sound.map(({ segment, size }) => ({ no: segment.no, first: segment.first, length: size }))',
    ),
  },
  { name: 'a recovery does not make durable what it read', patch: patch('store/recovery', 'await handle.sync();', '') },
  {
    name: 'the name of a folder of blobs is not synced',
    patch: patch('side/blobs', 'await disk.syncFolder(dirname(folder));', ''),
  },
  { name: 'bytes of a blob are not synced before its rename', forget: syncOf('/blobs/') },
  { name: 'a document is not synced before its rename', forget: syncOf('/documents/') },
  {
    name: 'a failed sync is tried again',
    patch: patch(
      'log/segment-file',
      'await file.sync();\n        length += bytes.length;',
      'await file.sync().catch(() => file.sync());\n        length += bytes.length;',
    ),
    by: 'errors',
  },
  {
    name: 'what a failed commit did stays in memory',
    patch: patch('memory/transaction', '.splice(from).toReversed())', '.splice(from, 0))'),
    by: 'errors',
  },
  {
    name: 'the checksums of every segment have the same salt',
    patch: patch('log/segments', 'ids.random(4)', "'00000000'"),
    by: 'splice',
  },
  {
    name: 'the watermark is not looked at',
    patch: patch('log/replay', 'Math.max(manifest.sequence, watermark?.sequence ?? 0)', 'manifest.sequence'),
    by: 'cut',
  },
]

const dist = fileURLToPath(new URL('../../', import.meta.url))

/** What stands before and behind the text of a patch; two pieces if it is there once. */
const aroundPatch = (folder: string, { file, from }: Patch): string[] =>
  readFileSync(join(folder, file), 'utf8').split(from)

/** Mutants whose text is not there exactly once: code was moved without them. */
export const misplaced = (all: readonly Mutant[]): string[] =>
  all.flatMap(({ name, patch: change }) =>
    change !== undefined && aroundPatch(dist, change).length !== 2 ? [`${name}: ${change.file}`] : [],
  )

/** A copy of the compiled store with one change, beside it so that packages are found. */
const buildMutant = async ({ patch: change }: Mutant, folder: string): Promise<Engine> => {
  cpSync(join(dist, 'core'), join(folder, 'core'), {
    recursive: true,
    filter: (path) => !path.endsWith('.map') && !path.endsWith('.d.ts'),
  })
  if (change !== undefined) {
    const around = aroundPatch(folder, change)
    if (around.length !== 2) throw fault(`the text of a mutant is not there once: ${change.from}`)
    writeFileSync(join(folder, change.file), around.join(change.to))
  }
  return loadEngine(new URL(`file://${folder}/`))
}

const kinds: readonly FaultKind[] = ['EIO', 'ENOSPC', 'short']

/** What the crash suite says about a store: the first promise it breaks. */
const crashes = async (engine: Engine, { forget }: Mutant, states: number): Promise<void> => {
  const tally: Tally = { states: 0, operations: 0, insideRecovery: 0, afterRecovery: 0 }
  const exploration: Omit<Exploration, 'seed'> = {
    engine,
    rounds: 20,
    ends: ['close', 'kill', 'power'],
    images: 1,
    every: 2,
    ...(forget && { forget }),
    enough: () => tally.states >= states,
  }
  for (let seed = 1; tally.states < states; seed += 1) await explore({ ...exploration, seed }, tally)
}
const failures = async (engine: Engine, runs: number): Promise<void> => {
  const tally: Tally = { states: 0, operations: 0, insideRecovery: 0, afterRecovery: 0 }
  for (let run = 0; run < runs; run += 1) {
    const kind = kinds[run % kinds.length] ?? 'EIO'
    const at = 30 + run
    await explore(
      {
        engine,
        seed: 3 + (run % 2),
        rounds: 16,
        ends: ['close', 'kill', 'power'],
        images: 1,
        every: 13,
        fail: ({ number }) => (number === at ? kind : undefined),
      },
      tally,
    )
  }
}

const suites = {
  crash: (engine: Engine, mutant: Mutant) => crashes(engine, mutant, 30_000),
  errors: (engine: Engine) => failures(engine, 150),
  splice: (engine: Engine) => acceptsForeignLine(engine),
  cut: (engine: Engine) => cutsAcknowledged(engine),
  churn: (engine: Engine) => churn(engine, 200),
}

export interface Verdict {
  readonly mutant: string
  /** The first broken promise; undefined: it survived. */ readonly caught: string | undefined
  readonly seconds: number
}

/** Runs one mutant against its suite. */
export const tryMutant = async (
  mutant: Mutant,
  suite: (engine: Engine, mutant: Mutant) => Promise<void> = suites[mutant.by ?? 'crash'],
): Promise<Verdict> => {
  mkdirSync(join(dist, '.mutants'), { recursive: true })
  const folder = mkdtempSync(join(dist, '.mutants', 'm-'))
  const started = performance.now()
  try {
    const engine = await buildMutant(mutant, folder)
    const caught = await suite(engine, mutant).then(
      () => undefined,
      (cause: unknown) => (cause instanceof Error ? cause.message : String(cause)),
    )
    return { mutant: mutant.name, caught, seconds: (performance.now() - started) / 1000 }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The store as it is, by the way of the mutants: nothing may be caught. */
export const tryUnchanged = async (): Promise<readonly Verdict[]> => [
  await tryMutant({ name: 'unchanged, crash suite' }, (engine, mutant) =>
    crashes(engine, mutant, partOf(1_000, 3_000)),
  ),
  await tryMutant({ name: 'unchanged, errors', by: 'errors' }, (engine) => failures(engine, partOf(8, 25))),
  await tryMutant({ name: 'unchanged, splice', by: 'splice' }),
  await tryMutant({ name: 'unchanged, cut', by: 'cut' }),
  await tryMutant({ name: 'unchanged, churn', by: 'churn' }),
]
