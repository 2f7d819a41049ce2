/** What a slip in the file of a list may not do, over every file of a list that there is. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Owner } from '../../../../core/host/configuration/list-parts.js'
import { createLists } from '../../../../core/host/configuration/lists.js'
import type { ListSpec } from '../../../../core/plugin.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import { connectorList, FileConfig } from '../../../../plugins/connectors/registry/file.js'
import { routeList } from '../../../../plugins/execution/models/file/route-list.js'
import { hookList, HooksConfig } from '../../../../plugins/operator/hooks/config.js'
import { serverList } from '../../../../plugins/tools/mcp/config/entry.js'
import { freshRoot } from '../../../support/daemon.js'

interface Case {
  readonly owner: Owner
  readonly spec: ListSpec
  /** Two entries, of which the first is misspelt in the second text, and what the warning says. */
  readonly right: string
  readonly slip: readonly [from: string, to: string]
  readonly told: RegExp
  readonly names: readonly string[]
}

const hook = (name: string) =>
  `[hooks.${name}]\nevent = "pre_tool_use"\nexecutor = { type = "command", command = "exit 2" }\n`

const cases: readonly Case[] = [
  {
    owner: { id: 'hooks', config: HooksConfig },
    spec: hookList() as never,
    right: `${hook('guard')}${hook('other')}`,
    slip: ['hooks.guard', 'hook.guard'],
    told: /^config\/hooks\.toml:1 has hook, and may .*allow_cidrs.*; did you mean hooks\?/u,
    names: ['guard', 'other'],
  },
  {
    owner: { id: 'models', config: FileConfig },
    spec: routeList() as never,
    right: 'default_route = "a"\n[routes.a]\ndriver = "demo"\n[routes.b]\ndriver = "demo"\n',
    slip: ['routes.a', 'route.a'],
    told: /^config\/routes\.toml:2 has route, and may .*; did you mean routes\?/u,
    names: ['a', 'b'],
  },
  {
    owner: { id: 'mcp', config: FileConfig, fileIsList: true },
    spec: serverList() as never,
    right: '[mcp_servers.a]\ncommand = "a"\n[mcp_servers.b]\ncommand = "b"\n',
    slip: ['mcp_servers.a', 'mcp_server.a'],
    told: /^config\/mcp\.toml:1 has mcp_server, and may .*; did you mean mcp_servers\?/u,
    names: ['a', 'b'],
  },
  {
    owner: { id: 'connectors', config: FileConfig, fileIsList: true },
    spec: connectorList(undefined) as never,
    right: '[[http_connectors]]\nname = "a"\n[[http_connectors]]\nname = "b"\n',
    slip: ['[[http_connectors]]', '[[http_conectors]]'],
    told: /^config\/connectors\.toml:1 has http_conectors, and may .*; did you mean http_connectors\?/u,
    names: ['http_connectors/a', 'http_connectors/b'],
  },
]

const open = async (t: ExecutionContext, { owner, spec }: Pick<Case, 'owner' | 'spec'>, first: string) => {
  const root = await freshRoot()
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'config'), { recursive: true })
  const write = (text: string): void => writeFileSync(join(root, 'config', `${spec.file}.toml`), text)
  write(first)
  const lists = createLists({ disk: createDisk(), root })
  // What no start may leave out is looked at elsewhere.
  const { isVital: _, ...rest } = spec
  const { list } = lists.open(owner, rest)
  const changed: string[] = []
  lists.onApplied(({ entries }) => void changed.push(...entries.map(({ name, change }) => `${name} ${change}`)))
  const save = (text: string): void => {
    write(text)
    lists.look()
  }
  const told = (): string[] => lists.health.check().map(({ message }) => message)
  return { list, lists, save, told, changed }
}

for (const { owner, spec, right, slip, told: wanted, names } of cases) {
  // Of a configuration a start leaves nothing out.
  const next = spec.file === owner.id && owner.fileIsList !== true ? ' The next start refuses it.' : ''
  test(`runtime-35: a misspelt table of config/${spec.file}.toml takes nothing that held`, async (t) => {
    const { list, save, told, changed } = await open(t, { owner, spec }, right)
    const slipped = right.replace(...slip)
    t.deepEqual([[...list.all().keys()], told()], [names, []])
    save(slipped)
    t.deepEqual([[...list.all().keys()], changed], [names, []])
    t.regex(told().join(), wanted)
    t.true(told().join().endsWith(` What held before stays.${next}`))
    save(right)
    t.deepEqual([[...list.all().keys()], told(), changed], [names, [], []])
  })

  test(`runtime-35: after a start with a misspelt table of config/${spec.file}.toml nothing is said to stay`, async (t) => {
    const { list, lists, told } = await open(t, { owner, spec }, right.replace(...slip))
    for (let looks = 0; looks < 2; looks += 1) {
      t.deepEqual([...list.all().keys()], names.slice(1))
      t.regex(told().join(), wanted)
      t.notRegex(told().join(), /held before/u)
      lists.look()
    }
  })

  test(`runtime-35: after a start with a config/${spec.file}.toml that is no TOML nothing is said to stay`, async (t) => {
    const { told, save } = await open(t, { owner, spec }, '[')
    t.regex(told().join(), /is not TOML/u)
    t.true(told().join().endsWith(` Nothing of it holds.${next}`))
    save(right)
    save('[')
    t.true(told().join().endsWith(` What held before stays.${next}`))
  })
}

test('runtime-35: what else a file with a misspelt table has is applied, and what stands beside it stays', async (t) => {
  const [, routes] = cases
  if (routes === undefined) return t.fail()
  const { list, save, changed } = await open(t, routes, routes.right)
  save('defualt_route = "a"\n[routes.b]\ndriver = "openai"\n[routes.c]\ndriver = "demo"\n')
  t.deepEqual([...list.all().keys()], ['a', 'b', 'c'])
  t.like(list.beside(), { default_route: 'a' })
  t.deepEqual(changed, ['b changed', 'c added'])
  return undefined
})

test('runtime-35: an entry of an array whose name is misspelt or missing takes nothing that held', async (t) => {
  const connectors = cases.at(-1)
  if (connectors === undefined) return t.fail()
  const { list, save, told } = await open(t, connectors, connectors.right)
  for (const [text, wanted] of [
    ['nam = "a"', /toml:2: \[\[http_connectors\]\] a nam is not a known field; did you mean name\? What held before/u],
    ['', /\[\[http_connectors\]\] #1 its name must be there.*is left out, and what held before stays\.$/u],
    ['name = "b"', /\[\[http_connectors\]\] b is there more than once/u],
  ] as const) {
    save(connectors.right.replace('name = "a"', text))
    t.deepEqual([...list.all().keys()], connectors.names as string[])
    t.regex(told().join(), wanted)
  }
  save('[[http_connectors]]\nname = "b"\n')
  t.deepEqual([...list.all().keys()], ['http_connectors/b'])
  return undefined
})
