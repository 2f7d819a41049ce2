/** Pages of help are read in a terminal. */
import { spawnSync } from 'node:child_process'
import test from 'ava'
import { pluginFlags } from '../../../core/cli/plugin-commands.js'
import { allCommands } from '../../../core/cli/client-line.js'
import { callOf, commandHelp, groupHelp, overview, serveHelp } from '../../../core/cli/help.js'
import { columns } from '../../../core/cli/screen/columns.js'
import { shipped, shippedPlugins } from '../../../core/shipped.js'
import { mainFile } from '../../support/daemon.js'

const commands = await allCommands(shipped)
const longest = (page: string): number => Math.max(...page.split('\n').map((line) => line.length))

test('command-line-1: no line of any page of help has more than 100 characters, and of most none more than 80', async (t) => {
  const groups = new Map(
    commands.flatMap(({ path }) =>
      path.slice(1).map((_, at) => [path.slice(0, at + 1).join(' '), path.slice(0, at + 1)] as const),
    ),
  )
  const groupPages = [...groups].map(([name, words]) => {
    const own = commands.filter(
      ({ path }) => path.length > words.length && words.every((word, at) => path[at] === word),
    )
    return [name, groupHelp(words, own)] as const
  })
  const pages = [
    ['--help', overview(commands)],
    ['serve', serveHelp(pluginFlags(await shipped.plugins()))],
    ...groupPages,
    ...commands.map((command) => [command.path.join(' '), commandHelp(command)] as const),
  ] as const
  t.true(pages.length > 120)
  for (const [name, page] of pages) t.true(longest(page) <= 100, name)
  t.deepEqual(
    pages.filter(([, page]) => longest(page) > 80).map(([name]) => name),
    ['serve'],
  )
})

test('command-line-1: help of the whole program has every command under the heading of its first word, without flags', (t) => {
  const page = overview(commands)
  const sections = new Map(page.split('\n\n').map((section) => [section.split('\n')[0], section]))
  for (const command of commands) {
    const [word = ''] = command.path
    const isAlone = commands.filter(({ path }) => path[0] === word).length === 1
    const heading = [...sections.keys()].find((one) => one?.toLowerCase() === (isAlone ? 'daemon' : word)) ?? ''
    t.true(sections.get(heading)?.includes(`\n  ${callOf(command)}`), callOf(command))
  }
  t.true(sections.has('MCP') && sections.get('Daemon')?.includes('\n  serve '))
  t.notRegex(page.split('\nFlags of every command')[0] ?? '', /--stdin|--max-/u)
})

test('command-line-1: a command that calls no daemon has no flags that name one, and its help none', (t) => {
  const [capture] = commands.filter(({ path }) => path.join(' ') === 'capture')
  t.true(capture?.alone)
  t.notRegex(capture === undefined ? '' : commandHelp(capture), /--base-url|--token/u)
  const { status, stderr } = spawnSync(process.execPath, [
    mainFile,
    'capture',
    '--config',
    'x',
    '--base-url',
    'http://a',
  ])
  t.deepEqual([status, /no flag --base-url/u.test(stderr.toString())], [2, true], stderr.toString())
})

test('command-line-45: help of a flag that sets a value says what it means, its unit, its range and its words', (t) => {
  const helpOf = (name: string): string =>
    commands.flatMap((command) => (command.path.join(' ') === name ? [commandHelp(command)] : [])).join('')
  const limits = helpOf('runtime tool-limits set').replaceAll(/\s+/gu, ' ')
  t.regex(limits, /--max-timeout-ms <number> Longest time a tool call may take, milliseconds; [^.]*\. 1 or more\./u)
  t.regex(limits, /--max-sandbox inherited\|read_only\|workspace_write\|network_enabled The widest power/u)
  const policy = helpOf('runtime run-memory-policy set').replaceAll(/\s+/gu, ' ')
  t.regex(policy, /--enabled true\|false Whether ended runs/u)
  t.regex(policy, /--max-prompt-entries <number> [^.]*\. 0 to 256\./u)
})

test('command-line-35: help offers no flag that a command does not take', (t) => {
  const helpOf = (name: string): string =>
    commands.flatMap((command) => (command.path.join(' ') === name ? [commandHelp(command)] : [])).join('')
  for (const name of ['plugins new', 'replay']) {
    t.notRegex(helpOf(name), /--base-url|--token/u, name)
    t.regex(helpOf(name), /--output pretty\|json/u, name)
  }
  t.regex(helpOf('chat'), /--base-url/u)
  t.notRegex(helpOf('chat'), /--output/u)
})

test('command-line-1: what is too long for the left column stands above what is said of it, and words end lines', (t) => {
  const text = columns([
    ['a', 'one two '.repeat(12)],
    ['b'.repeat(40), 'three'],
  ])
  const [first, second, long, below] = text.split('\n')
  t.regex(first ?? '', /^ {2}a {2}(?:one|two| )+$/u)
  t.regex(second ?? '', /^ {5}(?:one|two)/u)
  t.deepEqual([long, below], [`  ${'b'.repeat(40)}`, '     three'])
})

test('the words that a plugin is listed with are those that its commands begin with, so that lines find all of them', async (t) => {
  for (const { id, commands: own } of await shippedPlugins()) {
    if (own === undefined) continue
    const begun = (await own.load()).commands.map(({ path }) => path[0] ?? '')
    t.deepEqual(new Set(own.words), new Set(begun), id)
  }
  const ofPlugins = await shipped.commands()
  for (const { path } of ofPlugins) t.true((await shipped.commands(path[0])).some((one) => one.path === path))
  t.true(ofPlugins.length > 100)
})
