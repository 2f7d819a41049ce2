import { type Facts, codesOf } from '../gather.js'
import { code, page, table } from '../markdown.js'
import type { Found } from '../modules.js'
import type { ProblemFactory } from '../../../core/plugin.js'

const row = ({ value: { code: name, spec } }: Found<ProblemFactory>, routes: ReadonlyMap<string, string>): string[] => [
  `<a id="${name}"></a>${code(name)}`,
  String(spec.status),
  spec.domain ?? '',
  spec.detail,
  spec.action ?? '',
  routes.get(name) ?? '',
]

/** Which routes answer with a code: the ids, or all of them. */
const routesByCode = ({ operations, shared }: Facts): Map<string, string> => {
  const found = new Map<string, string[]>()
  for (const { id, operation } of operations)
    for (const name of new Set(Object.values<any>(operation['responses']).flatMap(codesOf)))
      found.set(name, [...(found.get(name) ?? []), id])
  const common = new Set(shared)
  const text = (name: string, ids: readonly string[]): string =>
    common.has(name) ? 'any' : ids.length > 4 ? `${ids.length} routes` : ids.map(code).join(', ')
  return new Map([...new Set([...found.keys(), ...shared])].map((name) => [name, text(name, found.get(name) ?? [])]))
}

export const errorsPage = (facts: Facts): string => {
  const routes = routesByCode(facts)
  const files = [...new Set(facts.modules.errors.map(({ file }) => file))].toSorted()
  return page(
    '# Errors',
    'Every error that can leave the daemon, by the table that it stands in. Over HTTP it is a problem document ' +
      'with this `code`; on the command line it is one sentence with the code. `{name}` stands for a detail of ' +
      'the occurrence. Codes are stable; sentences are for people.',
    ...files.map((file) => [
      `## ${file}`,
      table(
        ['code', 'status', 'domain', 'sentence', 'what to do', 'answered by'],
        facts.modules.errors.filter((entry) => entry.file === file).map((entry) => row(entry, routes)),
      ),
    ]),
  )
}
