/** A program that is not whole is not used: real processes on damaged copies of a build. */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { makeProgram } from '../../../core/build/make-program.js'
import { damagedOf, filesOf, lives, programFolder, prove, seal, sumOfName } from '../../../core/build/program.js'
import { version } from '../../../core/base/version.js'
import { copyOfBuild } from '../../support/build.js'
import { freshFolder } from '../../support/folders.js'

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a process; one that serves is asked to stop when it is ready. */
const run = async (args: readonly string[]): Promise<Ended> => {
  const running = promisify(execFile)(process.execPath, args, { maxBuffer: 1 << 24, timeout: 120_000 })
  if (args.includes('serve')) running.child.stdout?.once('data', () => running.child.kill('SIGTERM'))
  try {
    return { code: 0, ...(await running) }
  } catch (error) {
    const { code, signal, stdout, stderr } = error as { code: number; signal?: string; stdout: string; stderr: string }
    return { code, stdout, stderr: `${stderr}${signal ?? ''}` }
  }
}

const flipped = (file: Buffer): Buffer => {
  const bytes = Buffer.from(file)
  for (let at = 1; at <= 50; at += 1) {
    const place = Math.floor((bytes.length * at) / 51)
    bytes[place] = (bytes[place] ?? 0) ^ (1 << (at % 8))
  }
  return bytes
}

type Damage = (file: Buffer, ofOther: Buffer) => Buffer | undefined
const damages: Readonly<Record<string, Damage>> = {
  gone: () => undefined,
  emptied: () => Buffer.alloc(0),
  cut: (file) => file.subarray(0, Math.floor(file.length / 2)),
  'with a tail of zeros': (file) => Buffer.concat([file.subarray(0, -4096), Buffer.alloc(4096)]),
  'with 50 flipped bits': flipped,
  'that of the other life': (_, ofOther) => ofOther,
}

const commands = (root: string): readonly (readonly string[])[] => [
  ['--version'],
  ['serve', '--bind', '127.0.0.1:0', '--state-root', root],
  ['state', 'verify', '--state-root', root],
]
/** Those that read a file first of all; one of the damages is tried with all of them. */
const commandsOn = (file: string, what: string, root: string) => {
  const own = path.basename(file).startsWith('serve') ? 'serve' : '--version'
  return commands(root).filter(([word]) => word === own || what === 'cut')
}

test.before(() => makeProgram())

/** What a file of each life is in front of all damages. */
const filesIn = (folder: string) => {
  const [serve, client] = lives.map((life) => filesOf(folder, life))
  if (serve === undefined || client === undefined) throw new TypeError('a program has two lives')
  const pairs = [
    [serve, client],
    [client, serve],
  ] as const
  return pairs.flatMap(([own, other]) =>
    (['program', 'code'] as const).map((kind) => ({
      kind,
      file: own[kind],
      whole: readFileSync(own[kind]),
      ofOther: readFileSync(other[kind]),
    })),
  )
}

for (const [what, damage] of Object.entries(damages))
  test(`whatever script of the program or code of it is ${what}, a start does the same and tells of a script`, async (t) => {
    const build = copyOfBuild()
    const main = path.join(build, 'core/main.js')
    const root = path.join(freshFolder(), 'state')
    for (const { kind, file, whole, ofOther } of filesIn(programFolder(build) ?? '')) {
      const bytes = damage(whole, ofOther)
      if (bytes === undefined) rmSync(file)
      else writeFileSync(file, bytes)
      for (const args of commandsOn(file, what, root)) {
        const { code, stdout, stderr } = await run([main, ...args])
        const name = `${path.basename(file)}, ${args[0]}`
        const told = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'))
        t.is(code, 0, `${name}: ${stderr}`)
        t.is(told.length, kind === 'program' ? 1 : 0, `${name}: ${stderr}`)
        if (kind === 'program')
          t.true(
            told[0]?.startsWith(`holdfast: ${file} is damaged or gone, `) && told[0].includes('npm run build'),
            name,
          )
        if (args[0] === '--version') t.is(stdout, `${version}\n`, name)
        if (args[0] === 'serve') t.regex(stdout, /http:\/\//u, name)
        if (args[0] === 'state') t.regex(stdout, /^clean up to commit/mu, name)
      }
      writeFileSync(file, whole)
    }
  })

test('code of another text of the same length is not used', async (t) => {
  const build = copyOfBuild()
  const { program } = filesOf(programFolder(build) ?? '', 'client')
  const text = prove(readFileSync(program), sumOfName(program))?.content.toString('latin1') ?? ''
  t.true(text.includes(`"${version}"`))
  writeFileSync(program, seal(Buffer.from(text.replaceAll(`"${version}"`, '"9.9.9"')), sumOfName(program)))
  const { stdout, stderr } = await run([path.join(build, 'core/main.js'), '--version'])
  t.deepEqual([stdout, stderr], ['9.9.9\n', ''])
})

test('stacks stay as they are where their map is damaged', async (t) => {
  const build = copyOfBuild()
  const { map } = filesOf(programFolder(build) ?? '', 'client')
  writeFileSync(map, readFileSync(map, 'latin1').replace('mappings', 'mapping5'))
  const script = `
    const { openProgram } = await import(${JSON.stringify(path.join(build, 'core/build/program.js'))})
    console.log(openProgram('--version').program.stackOf(Object.assign(new Error('x'), { stack: 'at client.cjs:99:9' })))`
  t.deepEqual(await run(['--input-type=module', '-e', script]), { code: 0, stdout: 'at client.cjs:99:9\n', stderr: '' })
})

test('a part that is needed when its file is gone is told as a fault of the program, not of the state', async (t) => {
  const build = copyOfBuild()
  const root = path.join(freshFolder(), 'state')
  await run([path.join(build, 'core/main.js'), ...(commands(root)[1] ?? [])])
  const { program: file } = filesOf(programFolder(build) ?? '', 'serve')
  const script = `
    const { openProgram } = await import(${JSON.stringify(path.join(build, 'core/build/program.js'))})
    const { program } = openProgram('state')
    ;(await import('node:fs')).rmSync(${JSON.stringify(file)})
    program.main()`
  const { code, stdout, stderr } = await run([
    '--input-type=module',
    '-e',
    script,
    'main.js',
    ...(commands(root)[2] ?? []),
  ])
  t.deepEqual([code, stdout], [1, ''])
  t.regex(
    stderr,
    /^holdfast: serve\.cjs of the program was damaged or replaced .*install it anew \(program_damaged\)\n$/u,
  )
})

test('a build makes a damaged program again, and leaves a whole one and one without code as it is', async (t) => {
  const build = copyOfBuild()
  const folder = programFolder(build) ?? ''
  const make = path.join(build, 'core/build/make.js')
  const { code, map } = filesOf(folder, 'serve')
  writeFileSync(path.join(folder, 'mark'), '')
  rmSync(code)
  t.is((await run([make])).stderr, '')
  t.true(readdirSync(folder).includes('mark'))
  writeFileSync(map, flipped(readFileSync(map)))
  t.is(damagedOf(folder), map)
  const builds = await Promise.all([run([make]), run([make])])
  t.deepEqual(
    builds.map(({ stderr }) => stderr),
    ['', ''],
  )
  t.is(damagedOf(folder), undefined)
  t.is((await run([path.join(build, 'core/main.js'), '--version'])).stderr, '')
  t.deepEqual(readdirSync(path.join(build, 'bundle')), [path.basename(folder)])
})
