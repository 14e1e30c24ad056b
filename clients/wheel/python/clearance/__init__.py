"""Exact, certified answers about bodies in motion: the engine in this process, or a server.

    import clearance
    engine = clearance.local()                  # or clearance.connect("host:50061")
    print(engine.collide(clearance.box(1, 1, 1), clearance.ball(0.5).at([1, 0, 0])).verdict.name)   # TOUCHING
"""
from pkgutil import extend_path

# Stubs that were generated from the interface are modules `clearance.v1...`, and stay importable beside this.
__path__ = extend_path(__path__, __name__)

from . import messages
from ._engine import __version__
from ._rerun import to_rerun
from .client import Collision, Distance, Engine, FirstContact, Outcome, Stream, Verdict, connect, local
from .errors import Code, Error, NotVerified
from .recording import Recording
from .robots import Cell, Configurations, Edges, Mode, Refused, Robot
from .session import Body, Event, Report, RobotBody, Session
from .shapes import (Motion, Placed, Shape, Treatment, ball, box, capsule, cloud, cone, cylinder, ellipsoid, half_space,
                     linear, mesh, placed, points, rounded, screw, to_pose)
from .showing import Page, show

__all__ = [
    "Body", "Cell", "Code", "Collision", "Configurations", "Distance", "Edges", "Engine", "Error", "Event", "FirstContact",
    "Mode", "Motion", "NotVerified", "Outcome", "Page", "Placed", "Recording", "Refused", "Report", "Robot", "RobotBody",
    "Session", "Shape", "Stream", "Treatment", "Verdict", "__version__", "ball", "box", "capsule", "cloud", "cone", "connect",
    "cylinder", "ellipsoid", "half_space", "linear", "local", "mesh", "messages", "placed", "points", "rounded", "screw",
    "show", "to_pose", "to_rerun",
]
