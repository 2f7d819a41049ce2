/** Programs of others, which make files and judge what the daemon makes of them. `.ci/judges` installs them. */
import { spawnSync } from 'node:child_process'
import type { ExecutionContext, TestFn } from 'ava'
import { fault } from '../../core/base/assert.js'

/** The Python for which the system has packages. */
export const systemPython = '/usr/bin/python3'

/** What is not a program on the PATH, and how it is looked for. */
const checks: Readonly<Record<string, readonly string[]>> = {
  'pocketsphinx-en-us': ['test', '-d', '/usr/share/pocketsphinx/model/en-us'],
  'python3-ezdxf': [systemPython, '-c', 'import ezdxf'],
  'python3-hypothesis': [systemPython, '-c', 'import hypothesis'],
  'python3-reportlab': [systemPython, '-c', 'import reportlab'],
  tomllib: ['python3', '-c', 'import tomllib'],
}

const isHere = (need: string): boolean => {
  const [program = '', ...args] = checks[need] ?? ['/bin/sh', '-c', 'command -v "$1"', 'sh', need]
  return spawnSync(program, args).status === 0
}

type Body = (t: ExecutionContext<any>) => void | Promise<void>

/** Declares tests that need them all. Where one is lacking they are skipped, and say so in their titles. */
export const judgedBy = (test: TestFn<any>, ...needs: readonly string[]): ((title: string, body: Body) => void) => {
  const lacking = needs.filter((need) => !isHere(need))
  if (lacking.length === 0) return (title, body) => test(title, body)
  return (title, body) => test.skip(`${title} (not here: ${lacking.join(', ')})`, body)
}

/** What a program puts out; throws with what it says if it fails. */
export const ask = (program: string, ...args: readonly string[]): string => {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  if (status !== 0) throw fault(`${program} failed: ${stderr}`)
  return stdout
}
