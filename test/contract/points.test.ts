/** Every point says what its contributions may answer, or stands here with the reason why it does not. */
import test from 'ava'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Point } from '../../core/plugin.js'
import { filesBelow, root } from '../conventions/files.js'

const noFunctions = 'its contributions have no functions'
const told = 'its contributions are told and not asked: they are read with ctx.observers'
const ownGuard = 'whoever asks checks what comes, and leaves it out or fails alone'
const worker = 'it does the work itself: its rejection is the answer, and a wrong result fails what was asked for'

const unanswered: Readonly<Record<string, string>> = {
  'action-listeners@1': told,
  'capabilities@1': noFunctions,
  'connector-files@1': worker,
  'connector-kinds@1': worker,
  'consultation-observers@1': ownGuard,
  'delivery-observers@1': told,
  'learning-users@1': told,
  'live-kinds@1': worker,
  'reserved-metadata-keys@1': noFunctions,
  'route-backends@1': noFunctions,
  'run-memory-users@1': told,
  'run-observers@1': ownGuard,
  'schedule-observers@1': told,
  'spawn-observers@1': told,
  'tools@1': worker,
  'turn-observers@1': told,
}

/** Points whose keys are no ids, and what they are. */
const otherwiseKeyed: Readonly<Record<string, string>> = {
  'metrics@1': 'names as monitoring systems have them',
  'reserved-metadata-keys@1': 'what callers write, in their spelling',
  'tools@1': 'names as models have them, of foreign tools too',
}

/** A contribution that has every member, each of them this text. */
const allOf = (text: string): unknown => new Proxy({}, { get: () => text })

const defining = /\bdefinePoint(?:<[^(]*>)?\(/gu
const compiled = join(root, 'dist')

const isPoint = (value: unknown): value is Point<unknown> =>
  typeof value === 'object' && value !== null && 'point' in value && typeof value.point === 'string'

/** The points that a compiled file exports, and how many it defines. */
const pointsIn = async (path: string): Promise<{ readonly defined: number; readonly points: Point<unknown>[] }> => {
  const defined = [...readFileSync(join(root, path), 'utf8').matchAll(defining)].length
  if (defined === 0) return { defined, points: [] }
  const exported: object = await import(pathToFileURL(join(compiled, path.replace(/\.ts$/u, '.js'))).href)
  return { defined, points: Object.values(exported).filter(isPoint) }
}

const allPoints = async (): Promise<{
  readonly points: ReadonlyMap<string, Point<unknown>>
  readonly count: number
}> => {
  const sources = ['core', 'plugins'].flatMap((folder) => filesBelow(folder)).filter((path) => path.endsWith('.ts'))
  const points = new Map<string, Point<unknown>>()
  let count = 0
  for (const path of sources) {
    if (path === 'core/base/token.ts') continue
    const { defined, points: exported } = await pointsIn(path)
    count += defined
    for (const point of exported) points.set(point.point, point)
  }
  return { points, count }
}

test('runtime-19: every point says what its contributions may answer, or why it need not', async (t) => {
  const { points, count } = await allPoints()
  t.true(count > 50)
  t.is(points.size, count, 'a point is not exported by the file that defines it')
  const silent = [...points.values()].filter(({ answers }) => answers === undefined).map(({ point }) => point)
  t.deepEqual(silent.toSorted(), Object.keys(unanswered).toSorted())
})

test('runtime-19: every point with a key refuses one that is no id, and says so', async (t) => {
  const { points } = await allPoints()
  for (const { point, key, check } of points.values())
    if (key !== undefined && !(point in otherwiseKeyed))
      t.regex(check?.(allOf('Bad Name')) ?? '', /^the \w+ "Bad Name" of .* must be of small letters/u, point)
})
