/** What warnings and problems tell people to do: the command lines in them are ones that there are. */
import test from 'ava'
import { Problem, type ProblemSpec } from '../../core/base/errors.js'
import { allCommands } from '../../core/cli/client-line.js'
import { globals, parseArguments, switchesOf } from '../../core/cli/arguments.js'
import { findCommand, givenOf } from '../../core/cli/dispatch.js'
import { inCommands } from '../../core/cli/told/route-names.js'
import { shipped } from '../../core/shipped.js'
import { readModules } from '../../docs/make/modules.js'
import { sources, type Node } from '../conventions/sources.js'

const commands = await allCommands(shipped)
const { errors } = await readModules()

const keyOf = (property: Node): string | undefined => (property['key'] as { name?: string } | undefined)?.name
const propertiesOf = (node: Node): readonly Node[] =>
  node.type === 'ObjectExpression' ? (node['properties'] as readonly Node[]) : []

/** Every text in a node, joined as it is written. */
const textOf = (node: unknown): string => {
  if (typeof node !== 'object' || node === null) return ''
  if (Array.isArray(node)) return node.map(textOf).join(' ')
  const { type, ...members } = node as Node
  if (type === 'StringLiteral') return ` ${String(members['value'])} `
  if (type === 'TemplateElement') return ` ${(members['value'] as { cooked: string }).cooked} `
  if (type === 'CallExpression' && (members['callee'] as { name?: string }).name === 'commandLine')
    return ` holdfast ${textOf((members['arguments'] as readonly Node[])[0])} `
  return Object.entries(members)
    .filter(([key]) => key !== 'loc' && !key.endsWith('Comments'))
    .map(([, value]) => textOf(value))
    .join('')
}

const actions = sources.flatMap(({ path, nodes }) =>
  nodes
    .filter(({ type, ...node }) =>
      type === 'ObjectProperty'
        ? (node['key'] as { name?: string }).name === 'action'
        : type === 'VariableDeclarator' && (node['id'] as { name?: string }).name === 'action',
    )
    .map((node) => ({ path, line: node.loc?.start.line, text: textOf(node).replaceAll(/\s+/gu, ' ') })),
)

const faultOf = (line: string): string | undefined => {
  const words = line.split(' ')
  if (words[0] === 'serve') return undefined
  const command = commands
    .filter(({ path }) => path.every((word, at) => words[at] === word))
    .toSorted((a, b) => b.path.length - a.path.length)[0]
  if (command === undefined) return `there is no command: holdfast ${line}`
  const strange = words.find(
    (word) => /^--[a-z]/u.test(word) && ![...Object.keys(command.flags ?? {}), ...globals].includes(word.slice(2)),
  )
  if (strange !== undefined) return `holdfast ${command.path.join(' ')} has no flag ${strange}`
  const lacking = (command.needs ?? []).find((flag) => !words.includes(flag))
  if (lacking !== undefined) return `holdfast ${command.path.join(' ')} needs ${lacking}`
  const needed = (command.oneOf ?? []).filter((one) => one.startsWith('--'))
  const isGiven = needed.length < (command.oneOf ?? []).length || needed.some((flag) => words.includes(flag))
  return needed.length === 0 || isGiven ? undefined : `holdfast ${command.path.join(' ')} needs one of its flags`
}

test('every command that an action names is one that there is, with its flags, and ends no sentence', (t) => {
  const faults = actions.flatMap(({ path, line, text }) =>
    [...text.matchAll(/\bholdfast ((?:-{0,2}[a-z][a-z-]* ?)+)/gu)].flatMap(([, named = '']) => {
      const fault = faultOf(named.trim())
      return fault === undefined ? [] : [`${path}:${line} ${fault}`]
    }),
  )
  t.deepEqual(faults, [])
  t.true(actions.filter(({ text }) => text.includes('holdfast')).length > 20)
})

test('every command line that is told names a command that there is, and the program once', (t) => {
  const lines = sources.flatMap(({ path, nodes }) =>
    nodes
      .filter(({ type, ...node }) => type === 'CallExpression' && (node['callee'] as Node)['name'] === 'commandLine')
      .map((node) => ({
        where: `${path}:${node.loc?.start.line}`,
        text: textOf((node['arguments'] as readonly Node[])[0]).trim(),
      }))
      .filter(({ text }) => /^[a-z]/u.test(text)),
  )
  const faults = lines.flatMap(({ where, text }) => {
    const [, named = ''] = /^((?:-{0,2}[a-z][a-z-]* ?)+)/u.exec(text) ?? []
    const fault = faultOf(named.trim())
    // Flags may follow the arguments.
    return fault === undefined || fault.endsWith('needs one of its flags') ? [] : [`${where} ${fault}`]
  })
  t.deepEqual(faults, [])
  t.true(lines.length > 50)
})

test('what a warning says to do names command lines and no routes: nobody translates it', (t) => {
  const routes = sources.flatMap(({ path, nodes }) =>
    nodes.flatMap((node) => {
      const properties = propertiesOf(node)
      const action = properties.find((property) => keyOf(property) === 'action')
      const isTold = properties.some((property) => keyOf(property) === 'message')
      return isTold && /\b(?:GET|POST|PUT|PATCH|DELETE) \/v1/u.test(textOf(action?.['value']))
        ? [`${path}:${node.loc?.start.line}`]
        : []
    }),
  )
  t.deepEqual(routes, [])
})

test('every warning of severity warning or error says what to do', (t) => {
  const silent = sources.flatMap(({ path, nodes }) =>
    nodes.flatMap((node) => {
      const properties = propertiesOf(node)
      const keys = new Set(properties.map(keyOf))
      const isWarning = ['severity', 'code', 'message'].every((key) => keys.has(key))
      const isSpread = properties.some(({ type }) => type === 'SpreadElement')
      const given = properties.find((property) => keyOf(property) === 'severity')?.['value'] as Node | undefined
      // A call makes a struct, not a warning.
      const severity = given?.type === 'CallExpression' ? '' : textOf(given)
      return isWarning && !keys.has('action') && !isSpread && /\b(?:warning|error)\b/u.test(severity)
        ? [`${path}:${node.loc?.start.line}`]
        : []
    }),
  )
  t.deepEqual(silent, [])
})

/** Of many, any is meant. */
const anyOf = new Set(['board_revision_not_found board_id', 'grants_full grant_id', 'lease_not_found subject_id'])

/** Names of the details that a problem is made with; undefined where they are put together elsewhere. */
const detailsOf = ({ type, ...call }: Node): readonly string[] | undefined => {
  const [given] = type === 'CallExpression' ? (call['arguments'] as readonly Node[]) : []
  if (given === undefined) return []
  const value = propertiesOf(given).find((property) => keyOf(property) === 'details')?.['value'] as Node | undefined
  const members = value === undefined ? [] : propertiesOf(value)
  const isPlain = given.type === 'ObjectExpression' && (value === undefined || value.type === 'ObjectExpression')
  return isPlain && members.every((member) => keyOf(member)) ? members.flatMap((one) => keyOf(one) ?? []) : undefined
}

/** Names of the tables that have the code. */
const tablesOf = (code: string): readonly unknown[] =>
  errors.filter(({ value }) => value.code === code).map(({ symbol }) => symbol)

/** Every problem that is made with details that can be read. */
const made = sources.flatMap(({ path, nodes }) =>
  nodes.flatMap((node) => {
    const callee = node.type === 'CallExpression' ? (node['callee'] as Node) : undefined
    const [table, code] = ['object', 'property'].map((part) => (callee?.[part] as { name?: string } | undefined)?.name)
    const known = code === undefined ? undefined : detailsOf(node)
    return known === undefined ? [] : [{ where: `${path}:${node.loc?.start.line}`, table, code, known }]
  }),
)

/** Where problems are made without a detail that one of their texts has in braces. */
const unfilled = (textIn: (spec: ProblemSpec) => string | undefined): readonly string[] =>
  errors.flatMap(({ symbol, value: { code, spec } }) =>
    [...(textIn(spec) ?? '').matchAll(/\{(\w+)\}/gu)].flatMap(([, name = '']) =>
      made
        .filter((one) => one.code === code && (one.table === symbol || !tablesOf(code).includes(one.table)))
        .filter(({ known }) => !known.includes(name) && !anyOf.has(`${code} ${name}`))
        .map(({ where }) => `${where} ${code} {${name}}`),
    ),
  )

test('http-6: what a sentence or an action has in braces is known wherever its problem is made', (t) => {
  t.deepEqual(
    unfilled(({ detail }) => detail),
    [],
  )
  t.deepEqual(
    unfilled(({ action }) => action),
    [],
  )
})

test('http-6: what an action has in braces is a word or a part of a path, for nothing but ids and paths is filled in', (t) => {
  const glued = errors.filter(({ value }) => /\w\{\w+\}|\{\w+\}\w/u.test(value.spec.action ?? ''))
  t.deepEqual(
    glued.map(({ value }) => value.code),
    [],
  )
})

/** Of a sentence that begins with a command line, that line: behind its first argument all words may be arguments. */
const lineOf = (text: string): readonly string[] => {
  const words = text.split(' ')
  const {
    path,
    args = [],
    flags = {},
  } = commands
    .filter((command) => command.path.every((word, at) => words[at] === word))
    .toSorted((a, b) => b.path.length - a.path.length)[0] ?? { path: [] }
  const line = [...path]
  let taken = 0
  for (const word of words.slice(path.length)) {
    const isValue = flags[line.at(-1)?.slice(2) ?? '']?.kind === 'text'
    const isArgument = taken < args.length && (taken > 0 || /^(?:\{\w+\}|[A-Z_]+)$/u.test(word))
    if (!isValue && !isArgument && !word.startsWith('--')) break
    line.push(word)
    if (!isValue && !word.startsWith('--')) taken += 1
  }
  return line
}

test('command-line-2: a command line in an action is one that its command takes', (t) => {
  const lines = errors.flatMap(({ value: { code, spec } }) =>
    [...inCommands(spec.action ?? '', commands).matchAll(/\bholdfast ((?:(?![.,;:]?(?:$| |`)).| )+)/gu)].flatMap(
      ([, text = '']) => ({ code, line: lineOf(text) }),
    ),
  )
  const faults = lines.flatMap(({ code, line }) => {
    if (line.length === 0) return []
    const given = parseArguments(line, switchesOf(commands))
    const command = findCommand(given, commands)
    try {
      givenOf(command, given)
      return []
    } catch (error) {
      return [`${code}: holdfast ${line.join(' ')}: ${error instanceof Problem ? error.message : String(error)}`]
    }
  })
  t.deepEqual(faults, [])
  t.true(lines.length > 100)
})
