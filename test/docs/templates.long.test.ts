/** Templates of plugins: `plugins new` makes them, and what it makes compiles, keeps the contract and passes its test. */
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { mainFile } from '../support/daemon.js'
import { freshRoot } from '../support/folders.js'
import { repository, sh } from '../support/docs.js'

const templates = join(repository, 'docs/templates')

/** A folder above those of new plugins, with the packages that `npm install` would bring. */
const workshop = async (t: ExecutionContext): Promise<string> => {
  const folder = await freshRoot()
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, target] of [
    ['holdfast', repository],
    ['typescript', join(repository, 'node_modules/typescript')],
    ['@types/node', join(repository, 'node_modules/@types/node')],
    ['.bin/tsc', '../typescript/bin/tsc'],
  ] as const) {
    const at = join(folder, 'node_modules', name)
    mkdirSync(dirname(at), { recursive: true })
    symlinkSync(target, at)
  }
  return folder
}
const newPlugin = (folder: string, words: string) =>
  sh(`'${process.execPath}' '${mainFile}' plugins new ${words}`, folder)

/** What its user has to do beside naming it. */
const toldOf = {
  tool: ['`first_try`'],
  provider: ['driver = "first_try"', '--provider first_try'],
  connector: ['holdfast secrets set first-try.key', 'answers_url', '`/v1/first-try`', '`x-signature`'],
} as const

for (const kind of ['tool', 'provider', 'connector'] as const)
  test.serial(`command-line-19: a new ${kind} compiles strictly and passes its test`, async (t) => {
    const folder = await workshop(t)
    const made = await newPlugin(folder, `${kind} first-try`)
    t.deepEqual([made.code, made.err], [0, ''])
    t.regex(made.out, /cd first-try\n +npm install\n +npm test\n/u)
    const own = join(folder, 'first-try')
    for (const name of readdirSync(own)) t.notRegex(readFileSync(join(own, name), 'utf8'), /my.plugin|HOLDFAST/u, name)
    const readme = readFileSync(join(own, 'README.md'), 'utf8')
    for (const said of toldOf[kind]) t.true(readme.includes(said), said)
    const tested = await sh('npm test', own)
    t.is(tested.code, 0, tested.out + tested.err)
    t.regex(tested.out, /pass [23]\n/u)
    const file = join(own, 'plugin.ts')
    const whole = readFileSync(file, 'utf8')
    const broken = whole.replace("id: 'first-try'", "id: 'First Try'")
    writeFileSync(file, broken)
    t.not((await sh('npm test', own)).code, 0, 'its test looks at it')
  })

test.serial(
  'command-line-19: what a new plugin leaves over does not keep its test, and a wrong type fails it',
  async (t) => {
    const folder = await workshop(t)
    await newPlugin(folder, 'tool first-try')
    const own = join(folder, 'first-try')
    const file = join(own, 'plugin.ts')
    const whole = readFileSync(file, 'utf8')
    writeFileSync(file, `${whole}\nsetInterval(() => undefined, 1_000)\n`)
    t.is((await sh('npm test', own)).code, 0)
    writeFileSync(file, `${whole}\nexport const wrong: string = 1\n`)
    t.regex((await sh('npm test', own)).out, /plugin\.ts\(\d+,\d+\): error TS2322/u)
  },
)

test('a template has less than 40 lines in each file, and asks for the packages that are tried here', (t) => {
  for (const kind of ['tool', 'provider', 'connector'])
    for (const name of readdirSync(join(templates, kind)).filter((file) => !file.endsWith('.test.ts')))
      t.true(
        readFileSync(join(templates, kind, name), 'utf8')
          .trimEnd()
          .split('\n').length < 40,
        `${kind}/${name}`,
      )
  const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'))
  const { dependencies } = read(join(repository, 'package.json'))
  const { devDependencies } = read(join(templates, 'shared/package.json'))
  for (const name of ['typescript', '@types/node']) t.is(devDependencies[name], dependencies[name])
})

test('command-line-20: a folder that is there, a name that cannot be and an unknown kind are refused, and nothing is made', async (t) => {
  const folder = await freshRoot()
  mkdirSync(folder, { recursive: true })
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'taken'))
  writeFileSync(join(folder, 'file'), 'mine')
  symlinkSync('nowhere', join(folder, 'link'))
  for (const [words, code, told] of [
    ['tool taken', 1, /taken is there already \(plugin_folder_taken\)/u],
    ['tool file', 1, /file is there already \(plugin_folder_taken\)/u],
    ['tool link', 1, /link is there already \(plugin_folder_taken\)/u],
    ['tool ../out', 2, /a plugin cannot be called "\.\.\/out": say a small letter.*\(plugin_name_refused\)/u],
    ['tool a/b', 2, /plugin_name_refused/u],
    ["tool 'a b'", 2, /plugin_name_refused/u],
    ['tool .', 2, /plugin_name_refused/u],
    ['tool shell', 2, /a plugin cannot be called "shell": the name is taken/u],
    ['tool holdfast', 2, /the name is taken/u],
    ['tool bash', 2, /a plugin cannot be called "bash": Holdfast has a tool bash already/u],
    ['tool read-file', 2, /Holdfast has a tool read_file already/u],
    [`tool ${'a'.repeat(61)}`, 2, /it has more than 60 characters/u],
    ['boat mine', 2, /there is no template "boat": say tool, provider or connector \(plugin_kind_unknown\)/u],
    ['shared mine', 2, /plugin_kind_unknown/u],
  ] as const) {
    const refused = await newPlugin(folder, words)
    t.deepEqual([refused.code, refused.out], [code, ''], words)
    t.regex(refused.err, told)
  }
  t.deepEqual(readdirSync(folder).toSorted(), ['file', 'link', 'taken'])
  t.deepEqual(readdirSync(join(folder, 'taken')), [])
  const read = await newPlugin('/proc', 'tool mine')
  t.regex(read.err, /^holdfast: \/proc\/mine cannot be made: E[A-Z]+ \(plugin_folder_refused\)/u)
})
