/** The records of a stopped daemon as its pages have them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** By id; none of a collection that has no page yet. */
export const recordsOf = (root: string, collection: string): Record<string, any> => {
  const folder = join(root, 'data', collection)
  if (!existsSync(folder)) return {}
  const lines = readdirSync(folder)
    .filter((name) => name.startsWith('page-'))
    .toSorted()
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n').slice(1))
  return Object.fromEntries(lines.map((line) => JSON.parse(line)).map(({ id, r }) => [id, r]))
}
