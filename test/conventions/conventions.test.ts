import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { inWords } from '../../core/base/issue-rule.js'
import { allowed } from './allowed.js'
import { filesBelow, root } from './files.js'
import { sources, type Node, type Source } from './sources.js'

const used = new Set<string>()
const excused = (rule: string, file: string): boolean => {
  const found = allowed.find(
    (exception) =>
      exception.rule === rule &&
      (exception.file.endsWith('/') ? file.startsWith(exception.file) : exception.file === file),
  )
  if (found !== undefined) used.add(`${rule} ${found.file}`)
  return found !== undefined
}
const none = (t: ExecutionContext, faults: readonly string[]): void => {
  t.deepEqual(faults, [], `\n${faults.join('\n')}`)
}
const at = (source: Source, node: Node): string => `${source.path}:${node.loc?.start.line ?? 0}`

/** Lines of every node that `breaks` names, in files without an exception for the rule. */
const faultsOf = (rule: string, breaks: (node: Node, source: Source) => string | undefined): string[] => {
  const faults: string[] = []
  for (const source of sources) {
    const here: string[] = []
    for (const node of source.nodes) {
      const sentence = breaks(node, source)
      if (sentence !== undefined) here.push(`${at(source, node)} ${sentence}`)
    }
    if (here.length > 0 && !excused(rule, source.path)) faults.push(...here)
  }
  return faults
}

const isCallTo = (node: Node, object: string, property: string): boolean => {
  const callee = node['callee'] as Node | undefined
  return (
    node.type === 'CallExpression' &&
    callee?.type === 'MemberExpression' &&
    (callee['object'] as Node)['name'] === object &&
    (callee['property'] as Node)['name'] === property
  )
}
const calls = (node: Node, name: string): boolean =>
  node.type === 'CallExpression' && (node['callee'] as Node)['name'] === name
const pluginFolder = (path: string): string | undefined => /^plugins\/[^/]+\/[^/]+(?=\/)/u.exec(path)?.[0]

test('a plugin is a folder two levels below plugins, with a plugin.ts; its subfolders are flat', (t) => {
  const faults = sources
    .filter(
      ({ path }) =>
        path.startsWith('plugins/') &&
        path !== 'plugins/index.ts' &&
        !/^plugins\/(?:[^/]+\/){2,3}[^/]+\.ts$/u.test(path),
    )
    .map(({ path }) => path)
  const folders = new Set(sources.map(({ path }) => pluginFolder(path)).filter((folder) => folder !== undefined))
  none(t, [...faults, ...[...folders].filter((folder) => !existsSync(join(root, folder, 'plugin.ts')))])
})

const mostFolderFiles = 22
test(`a folder has at most ${mostFolderFiles} files, and a subfolder of a plugin at least two`, (t) => {
  const counts = new Map<string, number>()
  for (const { path } of sources) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  const isSubfolder = (folder: string): boolean => /^plugins\/[^/]+\/[^/]+\/[^/]+$/u.test(folder)
  none(
    t,
    [...counts]
      .filter(([folder, count]) => count > mostFolderFiles || (isSubfolder(folder) && count < 2))
      .map(([folder, count]) => `${folder} has ${count}`),
  )
})

test('imports point one way: core knows no plugin, a plugin knows core/plugin, itself and the contracts of others', (t) => {
  const faults = sources
    .flatMap(({ path, imports }) =>
      imports.map(({ target, line }) => {
        if (!/^(core|plugins|test|\.\.)/u.test(target)) return
        if (path.startsWith('core/'))
          return target.startsWith('core/') ? undefined : `${path}:${line} imports ${target}`
        const own = pluginFolder(path)
        const fine =
          path === 'plugins/index.ts' ||
          target === 'core/plugin.ts' ||
          (own !== undefined && target.startsWith(`${own}/`)) ||
          /^plugins\/[^/]+\/[^/]+\/contract\.ts$/u.test(target)
        return fine ? undefined : `${path}:${line} imports ${target}`
      }),
    )
    .filter((fault) => fault !== undefined)
  none(t, faults)
})

/** Each circle of a graph, as the path that leads back to its beginning. */
const circlesOf = (graph: ReadonlyMap<string, Iterable<string>>): string[] => {
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (node: string, trail: readonly string[]): void => {
    if (trail.includes(node)) {
      circles.push([...trail.slice(trail.indexOf(node)), node].join(' > '))
      return
    }
    if (done.has(node)) return
    for (const next of graph.get(node) ?? []) visit(next, [...trail, node])
    done.add(node)
  }
  for (const node of graph.keys()) visit(node, [])
  return circles
}

test('no module imports itself through others, types counted', (t) => {
  none(t, circlesOf(new Map(sources.map(({ path, imports }) => [path, imports.map(({ target }) => target)]))))
})

test('no folder imports itself through others, types counted, in core and within plugins', (t) => {
  const graph = new Map<string, Set<string>>()
  for (const { path, imports } of sources) {
    const folder = dirname(path)
    const others = imports.map(({ target }) => dirname(target)).filter((other) => /^(core|plugins)(\/|$)/u.test(other))
    graph.set(folder, new Set([...(graph.get(folder) ?? []), ...others.filter((other) => other !== folder)]))
  }
  none(t, circlesOf(graph))
})

test('no plugin needs itself through others, types counted', (t) => {
  const graph = new Map<string, Set<string>>()
  for (const { path, imports } of sources) {
    const folder = pluginFolder(path)
    if (folder === undefined) continue
    const others = imports.map(({ target }) => pluginFolder(target)).filter((other) => other !== undefined)
    graph.set(folder, new Set([...(graph.get(folder) ?? []), ...others.filter((other) => other !== folder)]))
  }
  none(t, circlesOf(graph))
})

const mostFileLines = 300
test(`a file has at most ${mostFileLines} lines`, (t) => {
  none(
    t,
    sources
      .filter(({ path, lines }) => lines > mostFileLines + 1 && !excused('length', path))
      .map(({ path, lines }) => `${path} has ${lines - 1}`),
  )
})

test('a line has at most 120 characters', (t) => {
  none(
    t,
    sources.flatMap(({ path, text }) =>
      text
        .split('\n')
        .flatMap((line, at) => (line.length > 120 ? [`${path}:${at + 1} has ${line.length} characters`] : [])),
    ),
  )
})

test('a module is imported once in a file, its types with its values', (t) => {
  none(
    t,
    sources.flatMap((source) => {
      const seen = new Set<string>()
      return (source.tree['body'] as readonly Node[]).flatMap((node) => {
        const specifiers = (node['specifiers'] ?? []) as readonly Node[]
        if (node.type !== 'ImportDeclaration' || specifiers.some(({ type }) => type === 'ImportNamespaceSpecifier'))
          return []
        const module = (node['source'] as { value: string }).value
        const isRepeated = seen.has(module)
        seen.add(module)
        return isRepeated ? [`${at(source, node)} imports ${module} once more`] : []
      })
    }),
  )
})

const isFunction = (node: Node): boolean =>
  /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression|ObjectMethod|ClassMethod)$/u.test(node.type)
const linesOf = (node: Node): number => (node.loc?.end.line ?? 0) - (node.loc?.start.line ?? 0) + 1

const mostFunctionLines = 80
test(`a function has at most ${mostFunctionLines} lines, with what is nested in it, and three parameters`, (t) => {
  none(
    t,
    faultsOf('length', (node) => {
      if (!isFunction(node)) return undefined
      const lines = linesOf(node)
      if (lines > mostFunctionLines) return `has ${lines} lines`
      const parameters = node['params'] as readonly unknown[]
      return parameters.length > 3 ? `has ${parameters.length} parameters` : undefined
    }),
  )
})

test('files are kebab-case and no name hides what it is', (t) => {
  const vague = /(^|[-_/]|[a-z])(utils?|helpers?|common|manager|misc)([-_.]|$|[A-Z])/iu
  const files = sources
    .map(({ path }) => path)
    .filter((path) => !/^[a-z0-9]+(-[a-z0-9]+)*\.ts$/u.test(basename(path)) || vague.test(basename(path)))
  const symbols = faultsOf('names', (node) => {
    const name = (node['id'] as Node | null | undefined)?.['name']
    return /Declarat/u.test(node.type) && typeof name === 'string' && vague.test(name) ? `is named ${name}` : undefined
  })
  none(t, [...files, ...symbols])
})

test('errors come from tables: no plain Error is thrown outside core/assert', (t) => {
  none(
    t,
    faultsOf('errors', (node, { path }) => {
      const name = (node['callee'] as Node | undefined)?.['name']
      return node.type === 'NewExpression' &&
        typeof name === 'string' &&
        /^(Error|TypeError|RangeError)$/u.test(name) &&
        path !== 'core/base/assert.ts'
        ? `makes a ${name}`
        : undefined
    }),
  )
})

test('the environment is read in core/config alone', (t) => {
  none(
    t,
    faultsOf('environment', (node, { path }) => {
      const isEnv =
        node.type === 'MemberExpression' &&
        (node['object'] as Node)['name'] === 'process' &&
        (node['property'] as Node)['name'] === 'env'
      return isEnv && path !== 'core/base/config.ts' ? 'reads process.env' : undefined
    }),
  )
})

test('a terminal is written to in core/cli/terminal alone, where text is made visible', (t) => {
  none(
    t,
    faultsOf('terminal', (node, { path }) => {
      if (path === 'core/cli/terminal.ts' || node.type !== 'Identifier') return undefined
      return node['name'] === 'console' ? 'uses the console' : undefined
    }),
  )
  const streams = sources.flatMap(({ path, text }) =>
    path !== 'core/cli/terminal.ts' && /\bprocess\.std(?:out|err)\b|\} = process\b/u.test(text) ? [path] : [],
  )
  none(t, streams)
})

test('a comment cites a rule of docs/rules by its id, and no page that the repository does not have', (t) => {
  none(
    t,
    sources.flatMap(({ path, text }) =>
      text
        .split('\n')
        .flatMap((line, at) =>
          /\b(?:contract|reference) \d/iu.test(line) ? [`${path}:${at + 1} ${line.trim()}`] : [],
        ),
    ),
  )
})

test('a value in a command line to paste is put there by commandLine, which quotes it', (t) => {
  none(
    t,
    faultsOf('paste', (node, { path }) => {
      if (node.type !== 'TemplateLiteral' || !path.startsWith('plugins/')) return undefined
      const texts = (node['quasis'] as readonly Node[])
        .slice(0, -1)
        .map((text) => (text['value'] as { raw: string }).raw)
      return texts.some((text) => /\bholdfast [a-z][^.:;\n]*$/u.test(text)) ? 'inserts into a command line' : undefined
    }),
  )
})

test('the disk is touched in core/state alone', (t) => {
  const faults = sources.flatMap(({ path, imports }) =>
    imports
      .filter(
        ({ target }) =>
          /^(node:)?fs(\/promises)?$/u.test(target) || target === 'write-file-atomic' || target === 'proper-lockfile',
      )
      .filter(() => !path.startsWith('core/state/') && !excused('disk', path))
      .map(({ target, line }) => `${path}:${line} imports ${target}`),
  )
  none(t, faults)
})

test('the network is touched in core/http alone', (t) => {
  const network = /(?:from |import\()'(undici|(?:node:)?(?:net|tls|dgram|dns|dns\/promises|http|https|http2))'/u
  const fetches = faultsOf('network', (node, { path }) =>
    calls(node, 'fetch') && !path.startsWith('core/') ? 'calls fetch' : undefined,
  )
  const imports = sources
    .filter(({ path }) => !/^core\/(http|cli|state|processes|sandbox|testing)\//u.test(path))
    .flatMap(({ path, text }) =>
      text
        .split('\n')
        .flatMap((line, at) =>
          network.test(line) && !line.includes('import type') && !excused('network', path)
            ? [`${path}:${at + 1} ${line.trim()}`]
            : [],
        ),
    )
  none(t, [...fetches, ...imports])
})

test('time, randomness and ids come from the context', (t) => {
  none(
    t,
    faultsOf('time', (node, { path }) => {
      if (path === 'core/base/clock.ts' || path === 'core/base/ids.ts') return undefined
      if (isCallTo(node, 'Date', 'now') || isCallTo(node, 'Math', 'random') || isCallTo(node, 'performance', 'now'))
        return 'asks the machine for time or chance'
      if (['setTimeout', 'setInterval', 'randomUUID', 'randomBytes'].some((name) => calls(node, name)))
        return 'asks the machine for time or chance'
      const isNewDate =
        node.type === 'NewExpression' &&
        (node['callee'] as Node)['name'] === 'Date' &&
        (node['arguments'] as readonly unknown[]).length === 0
      return isNewDate ? 'asks the machine for the date' : undefined
    }),
  )
})

test('types are strict and plain: no any, no cast, no assertion, no enum, no namespace', (t) => {
  none(
    t,
    faultsOf('types', (node) => {
      if (node.type === 'TSAnyKeyword') return 'says any'
      if (node.type === 'TSNonNullExpression') return 'asserts non-null'
      if (node.type === 'TSEnumDeclaration' || node.type === 'TSModuleDeclaration')
        return 'declares an enum or namespace'
      if (node.type === 'TSTypeAssertion') return 'casts'
      if (node.type !== 'TSAsExpression') return undefined
      const type = node['typeAnnotation'] as Node
      return (type['typeName'] as Node | undefined)?.['name'] === 'const' ? undefined : 'casts'
    }),
  )
})

test('only a plugin has a default export', (t) => {
  none(
    t,
    faultsOf('types', (node, { path }) =>
      node.type === 'ExportDefaultDeclaration' && basename(path) !== 'plugin.ts' ? 'has a default export' : undefined,
    ),
  )
})

test('what a module exports never changes: the parts of the program bind it once', (t) => {
  none(
    t,
    faultsOf('types', (node) => {
      if (node.type !== 'ExportNamedDeclaration') return undefined
      const declared = node['declaration'] as (Node & { readonly kind?: string }) | null | undefined
      return declared?.type === 'VariableDeclaration' && declared.kind !== 'const' ? 'exports a variable' : undefined
    }),
  )
})

test('every export of a contract has a doc sentence', (t) => {
  const promised = sources.filter(({ path }) => path === 'core/plugin.ts' || basename(path) === 'contract.ts')
  const faults = promised.flatMap((source) =>
    (source.tree['body'] as readonly Node[]).flatMap((node) => {
      const declaration = node['declaration'] as Node | null | undefined
      if (node.type !== 'ExportNamedDeclaration' || declaration === null || declaration === undefined) return []
      const comments = (node['leadingComments'] ?? []) as readonly { value: string }[]
      return comments.some(({ value }) => value.startsWith('*')) || isTokenOf(source, declaration)
        ? []
        : [at(source, node)]
    }),
  )
  none(t, faults)
})

/** A token carries the name of the interface that it stands for, which is documented. */
const isTokenOf = (source: Source, declaration: Node): boolean => {
  const name = ((declaration['declarations'] as readonly Node[] | undefined)?.[0]?.['id'] as Node | undefined)?.['name']
  return typeof name === 'string' && source.text.includes(`export interface ${name} `)
}

test('every test stands where the thing that it tests stands', (t) => {
  const mirrored = filesBelow('test').filter((path) => /^test\/(core|plugins)\/.*\.test\.ts$/u.test(path))
  const faults = mirrored.filter((path) => {
    const twin = path.slice('test/'.length).replace(/(?:\.long)?\.test\.ts$/u, '')
    return (
      !existsSync(join(root, `${twin}.ts`)) && !existsSync(join(root, twin)) && !existsSync(join(root, dirname(twin)))
    )
  })
  none(t, [...faults, ...filesBelow('test').filter((path) => /(^|[-/])\d+\.test\.ts$/u.test(path))])
})

test('dependencies are pinned exactly and each has its line in docs/decisions.md', (t) => {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
    string,
    Record<string, string>
  >
  const decisions = readFileSync(join(root, 'docs/decisions.md'), 'utf8')
  const all = Object.entries({ ...manifest['dependencies'], ...manifest['devDependencies'] })
  none(
    t,
    all
      .filter(([name, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/u.test(version) || !decisions.includes(`\`${name}\``))
      .map(([name, version]) => `${name} ${version}`),
  )
})

test('the top level holds what the layout names and nothing else', (t) => {
  const known =
    /^(package(-lock)?\.json|tsconfig\.json|core|plugins|state-example|test|docs|README\.md|LICENSE|CHANGELOG\.md|\..*|node_modules|dist|state)$/u
  none(
    t,
    readdirSync(root).filter((name) => !known.test(name)),
  )
})

test('the word list defines every plugin', (t) => {
  const words = readFileSync(join(root, 'docs/words.md'), 'utf8')
  const folders = new Set(sources.map(({ path }) => pluginFolder(path)).filter((folder) => folder !== undefined))
  none(
    t,
    [...folders].map((folder) => basename(folder)).filter((name) => !words.includes(`**${name}**`)),
  )
})

test.serial.after('there are at most ten exceptions and each is needed', (t) => {
  t.true(allowed.length <= 10)
  none(
    t,
    allowed.map(({ rule, file }) => `${rule} ${file}`).filter((line) => !used.has(line)),
  )
})

test('a pattern that people may break is told in words', (t) => {
  const shared: ReadonlySet<unknown> = new Set(['notBlank', 'noControls', 'line'])
  const isTold = (value: Node): boolean =>
    value.type === 'Identifier' ? shared.has(value['name']) : Object.hasOwn(inWords, String(value['value']))
  none(
    t,
    faultsOf('told patterns', (node, source) => {
      if (!calls(node, 'string') || !/^(?:plugins|core\/host)\//u.test(source.path)) return undefined
      const [rules] = node['arguments'] as Node[]
      const members = rules?.type === 'ObjectExpression' ? (rules['properties'] as Node[]) : []
      const valueOf = (name: string): Node | undefined =>
        members.find((member) => (member['key'] as Node | undefined)?.['name'] === name)?.['value'] as Node | undefined
      const pattern = valueOf('pattern')
      return pattern === undefined || valueOf('told') !== undefined || isTold(pattern)
        ? undefined
        : 'has a pattern without told'
    }),
  )
})
