// A server of one's own, and clients of it.
import { spawn } from 'node:child_process';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { SessionService } from '../gen/clearance/v1/session_service_pb.js';
import { PolytopeService } from '../gen/clearance/v1/polytope_service_pb.js';
import { RobotService } from '../gen/clearance/v1/robot_service_pb.js';

export function clientsOf(baseUrl) {
  const transport = createGrpcTransport({ baseUrl });
  return {
    sessions: createClient(SessionService, transport),
    polytopes: createClient(PolytopeService, transport),
    robots: createClient(RobotService, transport),
  };
}

// Starts the program and waits for a line of its output that says where it listens.
export async function started(program, args, pattern, environment = {}) {
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...environment },
  });
  const found = await new Promise((resolve, reject) => {
    let seen = '';
    const look = (bytes) => {
      seen += bytes;
      const match = pattern.exec(seen);
      if (match) resolve(match);
    };
    child.stdout.on('data', look);
    child.stderr.on('data', look);
    child.on('exit', (code) => reject(new Error(`${program} ended with ${code}: ${seen}`)));
  });
  return { child, found };
}

export async function serve(program, port) {
  const { child } = await started(program, ['serve', '--listen', `127.0.0.1:${port}`], /listening|serving/i);
  return { child, ...clientsOf(`http://127.0.0.1:${port}`) };
}
