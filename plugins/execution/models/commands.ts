import type { Command } from '../../../core/plugin.js'
import { doctorRoutesCommand } from './doctor/doctor-command.js'
import { init } from './init/init-command.js'

export const commands: readonly Command[] = [init, doctorRoutesCommand]
