/** A life of the program whose code is kept: `keep-code FOLDER LIFE ARGUMENT…`. What it needed, later lives need. */
import { writeFileSync } from 'node:fs'
import { fault } from '../base/assert.js'
import { resetHeap } from '../base/memory/heap.js'
import { filesOf, readScript, runProgram, sealCode, type Life } from './program.js'

const [folder = '', word = ''] = process.argv.splice(2, 2)
const life: Life = word === 'serve' ? 'serve' : 'client'
const script = readScript(folder, life, false)
if (script === undefined) throw fault(`there is no program in ${folder}`)
const keep = (): void => {
  resetHeap()
  writeFileSync(filesOf(folder, life).code, sealCode(folder, life, script.createCachedData()))
}
// What a daemon needs to stop is not kept: each start would read it.
process.once(life === 'serve' ? 'SIGTERM' : 'exit', keep)
runProgram(folder, life, script)?.main()
