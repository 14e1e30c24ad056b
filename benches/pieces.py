"""Convex pieces of robots' and furniture's meshes beside CoACD's.

    python3 -m venv v && v/bin/pip install coacd==1.0.14 trimesh numpy
    v/bin/pip install --no-deps example-robot-data==6.0.0 metaworld==3.1.1
    v/bin/python benches/pieces.py pieces.jsonl
    cargo bench --bench pieces -- pieces.jsonl

Takes a mesh of each of twelve robots and of each of eight things of a household, lets CoACD make pieces of it (its defaults,
seed 1), and writes both for the bench `pieces`, which makes at most as many of its own, measures how far all of them stand out
of the mesh, and says how long its own took. CoACD's time is that of one thread.
"""
import glob, json, os, sys, time

os.environ.setdefault('OMP_NUM_THREADS', '1')
import coacd
import numpy as np
import trimesh

ROBOTS = {
    'alex': 'full_model_fused_with__wrist', 'allegro_hand': 'base_link', 'bolt': 'upper_leg_200mm_left_side', 'cassie': 'hip-roll',
    'finger_edu': '', 'g1': '', 'human': '', 'so_arm': '', 'solo': '', 'ur': 'upperarm', 'xarm': '', 'z1': '',
}
THINGS = {
    'bin': '', 'peg_block': 'block_outer', 'plug': 'plug_plastic', 'window': 'windowb_frame', 'shelf': '', 'drawer': '', 'table': '',
    'coffeemachine': '',
}
TRIANGLES = range(60, 15_001)


def joined(path):
    """Vertices and triangles, equal points as one; none where the mesh is too small or too large."""
    mesh = trimesh.load(path, force='mesh', process=False)
    mesh.merge_vertices(merge_tex=True, merge_norm=True)
    return mesh if len(mesh.faces) in TRIANGLES else None


def is_convex(mesh):
    try:
        return mesh.convex_hull.volume * 0.97 < abs(mesh.volume)
    except Exception:
        return False


def chosen(folder, names):
    """Of each robot or thing the mesh that is named, or the first that is not nearly convex."""
    for name, wanted in names.items():
        paths = sorted(p for kind in ('stl', 'STL') for p in glob.glob(f'{folder}/{name}*/**/*.{kind}', recursive=True))
        for path in paths:
            if wanted not in os.path.basename(path):
                continue
            mesh = joined(path)
            if mesh is not None and not is_convex(mesh):
                yield f'{name}, {os.path.splitext(os.path.basename(path))[0]}', mesh
                break
        else:
            sys.exit(f'no mesh of {name} in {folder}')


def main():
    site = next(path for path in sys.path if path.endswith('site-packages'))
    meshes = [*chosen(f'{site}/cmeel.prefix/share/example-robot-data/robots', ROBOTS), *chosen(f'{site}/metaworld/assets/objects/meshes', THINGS)]
    coacd.set_log_level('error')
    with open(sys.argv[1], 'w') as file:
        for name, mesh in meshes:
            started = time.process_time()
            parts = coacd.run_coacd(coacd.Mesh(mesh.vertices, mesh.faces), seed=1)
            took = time.process_time() - started
            row = {'name': name, 'vertices': mesh.vertices.tolist(), 'triangles': mesh.faces.tolist(), 'seconds': took}
            row['hulls'] = [np.asarray(vertices).tolist() for vertices, _ in parts]
            file.write(json.dumps(row) + '\n')
            file.flush()
            print(f'{name}: {len(mesh.faces)} triangles, {len(parts)} pieces, {took:.1f} s', file=sys.stderr)


main()
